// A server over every transport that many can reach, as a program. It tells where it listens, and when asked how much
// memory it used at most since it was last asked.
import process from 'node:process'
import { createServer, type ServerOptions } from '../../src/index.ts'

const limits = JSON.parse(process.argv[2] ?? '{}') as ServerOptions['limits'] & object
const app = createServer({ name: 'reading', version: '1', limits, log: () => undefined })
  .tool('echo', { input: { type: 'object' } }, (input) => String((input as { text?: unknown }).text))
  .tool(
    'wait',
    { input: { type: 'object' } },
    (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))),
  )
const running = await app.listen({ http: { port: 0, sse: true, gist: true }, ws: true, tcp: { port: 0 } })

/** Memory outside the heap that is held for bytes, and all that the process takes. */
const now = (): { held: number; rss: number } => {
  const { rss, arrayBuffers, external } = process.memoryUsage()
  return { rss, held: Math.max(arrayBuffers, external) }
}
let most = now()
setInterval(() => {
  const { rss, held } = now()
  most = { rss: Math.max(most.rss, rss), held: Math.max(most.held, held) }
}, 5)

process.on('message', () => {
  process.send?.({ ...most, counts: Object.fromEntries(app.counts) })
  ;(globalThis as { gc?: () => void }).gc?.()
  most = now()
})
process.send?.(running.addresses)
