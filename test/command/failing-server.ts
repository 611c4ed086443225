// A server over stdio with a tool whose failure its clients are not told, and one that keeps tasks by key in a file.
import { createServer } from 'pierhead'
import { sqlite } from 'pierhead/stores'

const { FILE, RESULT = 'first' } = process.env
const app = createServer({
  name: 'failing',
  version: '1.0.0',
  ...(FILE !== undefined && { store: sqlite(FILE) }),
})

app.tool('sink', { hints: { readOnly: true } }, () => {
  throw new Error('no water')
})

app.tool('work', { task: { key: () => 'the same' } }, () => RESULT)

await app.listen()
