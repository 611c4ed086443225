// A server that keeps the messages of its requests in memory while they run. Its argument is JSON: { heap, over }.
import { createServer } from '../../src/index.ts'

const { heap, over } = JSON.parse(process.argv[2] ?? '{}') as {
  heap?: number
  over: 'stdio' | 'lines' | 'length-prefix'
}

const MOST = 67_108_864
const input = { type: 'object', properties: { text: { type: 'string' } } } as const
const reports: string[] = []
const app = createServer({
  name: 'room',
  version: '1.0.0',
  limits: { heap, stdioBytes: MOST, sseBytes: MOST, httpBytes: MOST, wsBytes: MOST },
  log: (_, text) => void reports.push(text),
})
  .tool('hold', { input }, async (_, { signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    return 'held'
  })
  .tool('echo', { input }, () => 'echoed')

process.on('message', () => process.send?.({ reports }))
if (over === 'stdio') await app.listen({ stdio: true })
else {
  const running = await app.listen({
    http: { port: 0, sse: true },
    tcp: { port: 0, framing: over },
    ws: { port: 0 },
  })
  process.send?.(running.addresses)
}
