import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { SseClient } from '../../src/transport/sse/peer.ts'
import { SseEndpoint } from '../../src/transport/sse/server.ts'
import { call, initialize, JSON_TYPE, message } from '../http/messages.ts'
import { Raw, send } from '../http/wire.ts'
import { EVENTS, open, start, tools } from './server.ts'

const TEN = 10 * 1024 * 1024

describe('a message', () => {
  test('of 10 MB is accepted, and of one byte more rejected by its head [S2-1.6-5] [S2-11.4-5]', async () => {
    const { port } = await start()
    const client = await (await open(port)).shake()
    const empty = call('echo', { text: '' }, 2)
    const fits = empty.replace('"text":""', `"text":"${'x'.repeat(TEN - empty.length)}"`)
    expect((await client.post(fits)).status).toBe(202)
    expect(await client.answer(2)).toMatchObject({ result: { isError: false } })
    const reply = await client.post(`${fits} `)
    expect([reply.status, reply.json]).toMatchObject([
      413,
      { error: { code: -32600, data: { refusal: { code: 1068 } } } },
    ])
    await client.post(message('ping', {}, 3))
    expect(await client.answer(3)).toMatchObject({ result: {} })
  })

  test('without a length is rejected as soon as it is too large', async () => {
    const { port } = await start(tools({ sseBytes: 1000 }))
    const client = await open(port)
    const raw = new Raw(port)
    onTestFinished(() => raw.destroy())
    raw.write(`POST ${client.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`)
    raw.write(`Transfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1001)}\r\n`)
    await raw.until(/HTTP\/1\.1 413/)
    expect(raw.status).toBe(413)
  })
})

test('the endpoint knows when its server closes', async () => {
  const app = tools()
  const { service } = new SseEndpoint(serviceOf(app), {
    limits: app.limits,
    guard: {} as never,
    fail: () => ({ status: 500, headers: {} }),
  })
  expect(service.isClosed).toBe(false)
  await app.close()
  expect(service.isClosed).toBe(true)
})

describe('streams', () => {
  test('are bounded by the session limit, and those without messages are evicted', async () => {
    const { port, app } = await start(tools({ sessions: 2 }))
    const silent = await open(port)
    await (await open(port)).shake()
    const refused = await send(port, { method: 'GET', path: '/sse', headers: EVENTS })
    expect([refused.status, refused.headers['retry-after'], refused.json]).toMatchObject([
      503,
      '30',
      { error: { code: 1089 } },
    ])
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000)
    onTestFinished(() => void vi.restoreAllMocks())
    await (await open(port)).shake()
    await silent.stream.end()
    expect(app.counts.get('session_evicted')).toBe(1)
    expect((await send(port, { method: 'GET', path: '/sse', headers: EVENTS })).status).toBe(503)
  })

  test('L.sessions a newcomer that is refused because all clients are in use does not look at each of them', async () => {
    const app = tools({ sessions: 100 })
    const endpoint = new SseEndpoint(serviceOf(app), {
      limits: app.limits,
      guard: { cors: () => ({}) } as never,
      fail: () => ({ status: 503, headers: {} }),
    })
    onTestFinished(() => endpoint.close())
    const get = async (): Promise<number> =>
      (await endpoint.answer({ method: 'GET', target: '/sse', headers: {}, body: '' } as never)).status
    const spoken = vi.fn<() => boolean>(() => true)
    vi.spyOn(SseClient.prototype, 'greet').mockImplementation(function (this: SseClient) {
      Object.defineProperty(this, 'spoken', { get: spoken })
    })
    onTestFinished(() => void vi.restoreAllMocks())
    for (let at = 0; at < 100; at++) expect(await get()).toBe(200)
    for (let at = 0; at < 50; at++) expect(await get()).toBe(503)
    expect(spoken.mock.calls.length).toBeLessThan(500)
  })

  test('limits.invalidMessages end after so many invalid messages in a row', async () => {
    const { port, app } = await start(tools({ invalidMessages: 3 }))
    const client = await (await open(port)).shake()
    for (const text of ['1', '{}', message('ping', {}, 2), '1', '{}', 'x']) await client.post(text)
    await client.stream.end()
    expect(client.messages.at(-1)).toMatchObject({
      error: { message: 'the last 3 messages were not valid, so the connection is closed' },
    })
    expect(client.messages.find(({ id }) => id === 2)).toMatchObject({ result: {} })
    expect((await client.post(message('ping', {}, 3))).status).toBe(404)
    expect(app.counts.get('too_many_invalid')).toBe(1)
  })

  test('that are quiet carry comments', async () => {
    const { port } = await start(tools({ keepAliveMs: 20 }))
    const client = await open(port)
    await client.stream.until(({ raw }) => raw.includes(': keep-alive\n\n: keep-alive\n\n'))
    expect(client.stream.events).toHaveLength(1)
  })

  test.each([
    ['that is too far behind', { connectionBytes: 1_000_000 }],
    ['that takes nothing for a while', { keepAliveMs: 100 }],
  ])('H.slow-reader a reader %s is aborted, and its session ends', async (_, limits) => {
    const { port, app } = await start(tools(limits))
    const raw = new Raw(port)
    onTestFinished(() => raw.destroy())
    raw.write('GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n')
    await raw.until(/sessionId=[0-9a-f-]{36}/)
    raw.socket.pause()
    const path = `/messages?${/sessionId=[0-9a-f-]{36}/.exec(raw.text)?.[0]}`
    const post = async (body: string): Promise<number> =>
      (await send(port, { path, body, headers: JSON_TYPE })).status
    await post(initialize())
    for (let id = 2; id < 6; id++) await post(call('fill', { letters: 8_000_000 }, id))
    await expect.poll(() => post(message('ping', {}, 9))).toBe(404)
    expect(app.counts.get('slow_reader')).toBe(1)
  })

  test('of slow readers miss progress, but no responses', async () => {
    const app = tools({ streamBytes: 10_000 })
    app.tool('chatter', {}, (_input, { progress }) => {
      for (let step = 1; step <= 100_000; step++) progress(step, 100_000, 'x'.repeat(100))
      return 'done'
    })
    const { port } = await start(app)
    const client = await (await open(port)).shake()
    await client.post(call('chatter', {}, 2, { progressToken: 1 }))
    expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'done' }] } })
    expect(app.counts.get('notice_dropped')).toBeGreaterThan(0)
    expect(client.messages.length).toBeLessThan(100_000)
  })
})

describe('a running request', () => {
  test('is cancelled when the stream closes', async () => {
    const app = tools()
    const ended = new Promise<string>((resolve) =>
      app.tool('wait', {}, async (_input, { signal }) => {
        await new Promise((stop) => signal.addEventListener('abort', stop, { once: true }))
        resolve('stopped')
        return ''
      }),
    )
    const { port } = await start(app)
    const client = await (await open(port)).shake()
    await client.post(call('wait'))
    client.stream.drop()
    expect(await ended).toBe('stopped')
  })

  test('is cancelled by a message, and never answered', async () => {
    const app = tools()
    app.tool(
      'wait',
      {},
      (_input, { signal }) => new Promise((stop) => signal.addEventListener('abort', stop)),
    )
    const { port } = await start(app)
    const client = await (await open(port)).shake()
    await client.post(call('wait', {}, 2))
    await client.post(message('notifications/cancelled', { requestId: 2 }))
    await client.post(message('ping', {}, 3))
    await client.answer(3)
    expect(client.messages.map(({ id }) => id)).toEqual([1, 3])
  })

  test('is bounded for each client', async () => {
    const app = tools({ inFlight: 2 })
    app.tool('wait', {}, () => new Promise(() => undefined))
    const { port } = await start(app)
    const client = await (await open(port)).shake()
    for (const id of [2, 3, 4]) await client.post(call('wait', {}, id))
    expect(await client.answer(4)).toMatchObject({ error: { code: 1060 } })
    client.stream.drop()
  })
})

describe('when the server closes', () => {
  test('running requests are answered first, then streams end; new streams are rejected', async () => {
    const app = tools()
    let finish: (text: string) => void = () => undefined
    app.tool('slow', {}, () => new Promise<string>((resolve) => (finish = resolve)))
    const { port, running } = await start(app)
    const client = await (await open(port)).shake()
    const idle = await (await open(port)).shake()
    await client.post(call('slow'))
    const closed = running.close()
    await idle.stream.end()
    expect((await send(port, { method: 'GET', path: '/sse', headers: EVENTS })).status).toBe(503)
    await client.post(call('echo', { text: 'late' }, 3))
    expect(await client.answer(3)).toMatchObject({ error: { code: 1077 } })
    finish('in time')
    expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'in time' }] } })
    await closed
    expect((await client.stream.end()).ended).toBe(true)
  })

  test('slow requests do not delay it', async () => {
    const app = tools({ drainMs: 50 })
    app.tool('wait', {}, () => new Promise(() => undefined))
    const { port, running } = await start(app)
    const client = await (await open(port)).shake()
    await client.post(call('wait'))
    await running.close()
    expect((await client.stream.end()).ended).toBe(true)
  })
})
