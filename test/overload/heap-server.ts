// A server whose handlers keep memory that no limit counts. Its argument is JSON: { heap, over }.
import { createServer } from '../../src/index.ts'

const { heap, over } = JSON.parse(process.argv[2] ?? '{}') as { heap?: number; over: 'stdio' | 'listen' }

const reports: string[] = []
const app = createServer({
  name: 'heap',
  version: '1.0.0',
  limits: { heap },
  log: (_, text) => void reports.push(text),
})
  .tool('keep', {}, async (_, { signal }) => {
    const kept = Array.from({ length: 20_000 }, (__, at) => ({ at }))
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    return String(kept.length)
  })
  .tool('echo', {}, () => 'echoed')

process.on('message', () => process.send?.({ reports, counts: Object.fromEntries(app.counts) }))
if (over === 'stdio') await app.listen({ stdio: true })
else {
  const running = await app.listen({ http: { port: 0, sse: true }, tcp: { port: 0 }, ws: { port: 0 } })
  process.send?.(running.addresses)
}
