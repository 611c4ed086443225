import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { headed, type Headed } from '../http/messages.ts'

// The lifetimes of requests as on Workers, where the runtime may stop a request together with its timers.
vi.mock('#lifetime', () => import('../../src/transport/http/server/lifetime-worker.ts'))

const BEAT_MS = 1000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function makeServe(limits: Partial<Limits>): (sent: Headed | RequestInit) => Promise<Response> {
  const app: App = createServer({
    name: 'stopped',
    version: '1',
    log: () => undefined,
    limits: { keepAliveMs: BEAT_MS, ...limits },
  })
  app.resource('memo://one', {}, () => 'one').tool('echo', {}, async () => 'echo')
  const serve = app.fetchWith({})
  return (sent) =>
    serve(new Request('http://127.0.0.1/mcp', { method: 'POST', ...sent }), { auth: { sub: 'ann' } })
}

/** Stops all open requests, and lets others notice it. */
async function stopAll(serve: ReturnType<typeof makeServe>): Promise<void> {
  vi.clearAllTimers()
  for (let count = 0; count < 3; count++) {
    vi.advanceTimersByTime(10 * BEAT_MS)
    expect((await serve(headed('server/discover'))).status).toBe(200)
  }
}

test('a stream of subscriptions/listen that was stopped makes room for another', async () => {
  const serve = makeServe({ streams: 1 })
  const listen = async (): Promise<string> => {
    const notifications = { resourceSubscriptions: ['memo://one'] }
    const { body } = await serve(headed('subscriptions/listen', { notifications }))
    const first = await body?.getReader().read()
    return new TextDecoder().decode(first?.value as Uint8Array)
  }
  expect(await listen()).toContain('notifications/subscriptions/acknowledged')
  expect(await listen()).toContain('"error"')
  await stopAll(serve)
  expect(await listen()).toContain('notifications/subscriptions/acknowledged')
})

test('a body that was not read to its end before its request was stopped takes no room', async () => {
  const serve = makeServe({ unparsedBytes: 100_000 })
  const { headers } = headed('tools/call', { name: 'echo' })
  const isRead = new Deferred<void>()
  let chunks = 0
  const body = new ReadableStream(
    {
      pull: (controller) =>
        chunks++ === 0 ? controller.enqueue(new Uint8Array(90_000).fill(32)) : isRead.resolve(),
    },
    { highWaterMark: 0 },
  )
  void serve({ headers, body, duplex: 'half' } as RequestInit)
  await isRead.promise
  const call = async (): Promise<string> =>
    (await serve(headed('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(20_000) } }))).text()
  expect(await call()).toContain('"error"')
  await stopAll(serve)
  expect(await call()).toContain('"result"')
})
