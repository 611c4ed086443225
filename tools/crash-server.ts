// The server of the crash test: its tasks are in the file of its first argument, or in the Redis of that URL, and it listens on the port of its second.
import { randomUUID } from 'node:crypto'
import { apiKeys } from '../src/auth.ts'
import { createServer } from '../src/index.ts'
import { redis, sqlite } from '../src/stores.ts'

const [place = '', port = '0', digest = ''] = process.argv.slice(2)

const input = {
  type: 'object',
  properties: { task: { type: 'number' }, ms: { type: 'number' } },
  required: ['task', 'ms'],
} as const

interface Input {
  readonly task: number
  readonly ms: number
}

/** Works for a while. Every run has another result, so that two outcomes of one task never look the same. */
async function work({ task, ms }: Input): Promise<string> {
  await new Promise((resolve) => void setTimeout(resolve, ms))
  return `${task}:${randomUUID()}`
}

const app = createServer({
  name: 'crash',
  version: '1.0.0',
  store: place.startsWith('redis:') ? redis({ url: place, lease: '3s' }) : sqlite(place),
  auth: apiKeys({ digests: { [digest]: { sub: 'ada' } } }),
  log: () => undefined,
})
  .tool('sturdy', { input, task: { mode: 'required', onRestart: 'retry' } }, work)
  .tool('fragile', { input, task: { mode: 'required', onRestart: 'fail' } }, work)
  .tool(
    'keyed',
    { input, task: { mode: 'required', onRestart: 'retry', key: ({ task }: Input) => String(task) } },
    work,
  )

const running = await app.listen({ http: { port: Number(port) } })
process.send?.({ url: running.url })
