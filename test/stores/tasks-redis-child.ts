// A server whose tasks are in Redis, as a process of its own. Each task says that it has begun, and ends when the parent says so.
import { once } from 'node:events'
import { createServer } from '../../src/index.ts'
import { redis } from '../../src/stores.ts'

const [url = '', prefix = ''] = process.argv.slice(2)
const store = redis({ url, prefix, lease: '1s', warn() {} })
const app = createServer({ name: 'films', version: '1.0.0', store, log: () => undefined })
app.tool('render', { input: { type: 'object' }, task: { onRestart: 'retry' } }, async () => {
  const word = once(process, 'message')
  process.send?.('begun')
  await word
  setTimeout(() => process.send?.('ended'), 500)
  return `by ${process.pid}`
})
await app.listen({ http: { port: 0 } })
process.send?.('ready')
