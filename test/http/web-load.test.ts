import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer, type App, type Plugin } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { budgetsOf } from '../../src/transport/io/budgets.ts'
import { LISTENERS } from './listeners.ts'
import { headed } from './messages.ts'

const MB = 1_000_000
const ECHO = headed('tools/call', { name: 'echo' }, 1)

type Ask = (path: string, init?: RequestInit) => Promise<Response>

function appWith(endpoints: NonNullable<Plugin['endpoints']>, limits: Partial<Limits>): App {
  return createServer({ name: 'web', version: '1', log: () => undefined, limits })
    .tool('echo', {}, () => 'echo')
    .use({ endpoints })
}

const askAt =
  (port: number): Ask =>
  (path, init) =>
    fetch(`http://127.0.0.1:${port}${path}`, init)

const ADAPTERS: Readonly<Record<string, (app: App) => Promise<Ask>>> = {
  listen: async (app) => askAt(await LISTENERS.listen(app)),
  node: async (app) => askAt(await LISTENERS.node(app)),
  fetch: (app) => Promise.resolve((path, init) => app.fetch(new Request(`http://localhost${path}`, init))),
}
const EACH = Object.keys(ADAPTERS)

const unsent = (app: App): number => budgetsOf(serviceOf(app), app.limits).write.total

async function seen(reply: Response): Promise<unknown> {
  const text = await reply.text()
  return reply.ok
    ? [reply.status, text]
    : [reply.status, (JSON.parse(text) as { error: { code: number } }).error.code]
}

test.each(EACH)('%s: the body of a request to an endpoint counts while its handler runs', async (adapter) => {
  const open = new Deferred<void>()
  let running = 0
  const work = async (request: Request): Promise<Response> => {
    running++
    await open.promise
    return new Response(String((await request.text()).length))
  }
  const app = appWith({ '/work': work, '/quick': () => new Response('ok') }, { inFlightBytes: 300_000 })
  const ask = await ADAPTERS[adapter]!(app)
  const post = (size: number): Promise<Response> =>
    ask('/work', { method: 'POST', body: 'a'.repeat(size), headers: { 'content-type': 'text/plain' } })
  const first = post(200_000)
  await expect.poll(() => running).toBe(1)
  expect(serviceOf(app).load.bytes).toBe(200_000)
  expect(await seen(await post(200_000))).toEqual([429, 1002])
  const small = post(500)
  await expect.poll(() => running).toBe(2)
  expect(await seen(await ask('/quick'))).toEqual([200, 'ok'])
  open.resolve()
  expect(await seen(await first)).toEqual([200, '200000'])
  expect(await seen(await small)).toEqual([200, '500'])
  expect(serviceOf(app).load.bytes).toBe(0)
  expect(await seen(await post(200_000))).toEqual([200, '200000'])
})

test.each(EACH)('%s: endpoints run a limited number of requests, without places of /mcp', async (adapter) => {
  const open = new Deferred<void>()
  let running = 0
  const work = async (): Promise<Response> => {
    running++
    await open.promise
    throw new Error('work failed')
  }
  const app = appWith({ '/work': work }, { allInFlight: 3 })
  const ask = await ADAPTERS[adapter]!(app)
  const all = [ask('/work'), ask('/work'), ask('/work')]
  await expect.poll(() => running).toBe(3)
  const refused = await ask('/work')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await ask('/mcp', { method: 'POST', ...ECHO })).status).toBe(200)
  open.resolve()
  for (const reply of await Promise.all(all)) expect(reply.status).toBe(500)
  expect((await ask('/work')).status).toBe(500)
})

test('an authenticated caller may run limits.inFlight requests to endpoints', async () => {
  const open = new Deferred<void>()
  let running = 0
  const work = async (): Promise<Response> => {
    running++
    await open.promise
    return new Response('done')
  }
  const app = appWith({ '/work': work }, { inFlight: 2 })
  const as = (sub: string): Promise<Response> =>
    app.fetchWith({})(new Request('http://localhost/work'), { auth: { sub } })
  const all = [as('a'), as('a')]
  await expect.poll(() => running).toBe(2)
  expect(await seen(await as('a'))).toEqual([429, 1060])
  all.push(as('b'))
  open.resolve()
  for (const reply of await Promise.all(all)) expect(reply.status).toBe(200)
})

test('fetch: limits.unsentBytes counts answers of endpoints that nobody reads', async () => {
  const big = (): Response => new Response('x'.repeat(MB))
  const streamed = (): Response => new Response(new Blob(['x'.repeat(MB)]).stream())
  const app = appWith(
    { '/export': big, '/streamed': streamed, '/small': () => new Response('ok') },
    { unsentBytes: 2_500_000 },
  )
  const ask = await ADAPTERS['fetch']!(app)
  const unread = [await ask('/export'), await ask('/streamed'), await ask('/export')]
  expect(unread.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(unsent(app)).toBeGreaterThan(2_500_000)
  expect(await seen(await ask('/export'))).toEqual([503, 1004])
  expect(await seen(await ask('/small'))).toEqual([200, 'ok'])
  expect((await ask('/mcp', { method: 'POST', ...ECHO })).status).toBe(503)
  for (const reply of unread) expect((await reply.text()).length).toBe(MB)
  expect(unsent(app)).toBe(0)
  expect((await (await ask('/export')).text()).length).toBe(MB)
})

test('fetch: an answer of an endpoint that nobody reads is dropped in time', async () => {
  const app = appWith({ '/export': () => new Response('x'.repeat(MB)) }, { bodyMs: 100 })
  const reply = await (await ADAPTERS['fetch']!(app))('/export')
  await expect.poll(() => app.counts.get('slow_reader')).toBe(1)
  expect(unsent(app)).toBe(0)
  await expect(reply.text()).rejects.toThrow('the client reads too slowly')
})

test.each(['listen', 'node'])(
  '%s: answers that nobody reads stay within limits.unsentBytes',
  async (adapter) => {
    // More than the system takes of an answer that nobody reads.
    const answer = new Uint8Array(48 * MB)
    const limit = 96 * MB
    const whole = (): ReadableStream =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(answer)
          controller.close()
        },
      })
    const app = appWith({ '/export': () => new Response(whole()) }, { unsentBytes: limit })
    const ask = await ADAPTERS[adapter]!(app)
    const url = await new Promise<URL>((resolve) => {
      void ask('/missing').then((reply) => resolve(new URL(reply.url)))
    })
    const statuses: string[] = []
    for (let each = 0; each < 12; each++) {
      const socket = connect(Number(url.port), '127.0.0.1').on('error', () => undefined)
      onTestFinished(() => void socket.destroy())
      socket.write('GET /export HTTP/1.1\r\nhost: localhost\r\n\r\n')
      await once(socket, 'readable')
      statuses.push(String(socket.read(12)).slice(9))
    }
    expect(statuses.slice(0, 2)).toEqual(['200', '200'])
    expect(statuses).toContain('503')
    expect(unsent(app)).toBeLessThan(limit + 48 * MB + 100_000)
  },
)
