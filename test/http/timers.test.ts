import { expect, onTestFinished, test, vi } from 'vitest'
import { shake } from '../gist/server.ts'
import { open as openStream } from '../sse/server.ts'
import { open, tools } from './server.ts'

test.each([
  ['Streamable HTTP', open],
  ['HTTP+SSE', openStream],
  ['gist', shake],
])('a server that was closed leaves no timer behind after a client of %s', async (_route, visit) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const running = await tools().listen({ http: { port: 0, sse: true, gist: true }, onUncaught: 'exit' })
  const idle = vi.getTimerCount()
  await visit(Number(new URL(running.url as string).port))
  expect(vi.getTimerCount()).toBeGreaterThan(idle)
  await running.close()
  // Those that watch the event loop and slow readers stop by themselves, long before the next comment on a stream is due.
  vi.advanceTimersByTime(1000)
  expect(vi.getTimerCount()).toBe(0)
})
