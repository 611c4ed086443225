// A worker process: its tasks are in the file of its first argument.
import { createServer } from '../../src/index.ts'
import { sqlite } from '../../src/stores.ts'

const store = sqlite(process.argv[2] ?? '')
const app = createServer({ name: 'works', version: '1', store, log: () => undefined }).tool(
  'work',
  { hints: { idempotent: true }, task: { mode: 'required' } },
  () => `worker ${process.pid}`,
)
await app.work()
process.send?.('ready')
