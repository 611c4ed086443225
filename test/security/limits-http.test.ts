import { describe, expect, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { Gate, open, start, tools, type Session } from '../http/server.ts'
import { post, Raw, send, stream, type Received, type Stream } from '../http/wire.ts'

type Served = Awaited<ReturnType<typeof start>> & { counted(what: string): number }

/** Serves with some limits; tells how often each struck. */
async function serve(limits: Partial<Limits>, app: App = tools(), more = {}): Promise<Served> {
  const started = await start(app, { limits, ...more })
  return { ...started, counted: (what) => app.counts.get(what) ?? 0 }
}

/** The sizes around a limit, and whether each is within it. */
function around(limit: number): readonly (readonly [size: number, isWithin: boolean])[] {
  return [
    [limit - 1, true],
    [limit, true],
    [limit + 1, false],
  ]
}

const isError = (kind: string): object => ({ error: { message: expect.stringMatching(kind) as string } })

describe('the head of a request', () => {
  test('limits.headBytes its target, names and values together have a size', async () => {
    const { port, counted } = await serve({ headBytes: 1000 })
    for (const [size, isWithin] of around(1000)) {
      const fixed =
        '/mcp' + 'Host' + 'localhost' + 'Content-Type' + 'application/json' + 'Content-Length' + '2' + 'X'
      const raw = new Raw(port).write(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX: ${'x'.repeat(size - fixed.length)}\r\n\r\n{}`,
      )
      await raw.until(/\}$/)
      expect([size, raw.status]).toEqual([size, isWithin ? 400 : 431])
      expect(raw.text.includes('the head of the request is larger than 1000 bytes')).toBe(!isWithin)
      raw.destroy()
    }
    expect(counted('head_too_large')).toBe(1)
  })

  test('limits.headBytes a long target counts too, and one connection that goes too far disturbs no other', async () => {
    const { port } = await serve({ headBytes: 1000 })
    const raw = await new Raw(port)
      .write(`POST /${'a'.repeat(1000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      .gone()
    expect(raw.status).toBe(431)
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  })

  test('limits.headers there are at most so many headers', async () => {
    const { port, counted } = await serve({ headers: 20 })
    for (const [count, isWithin] of around(20)) {
      const own = {
        host: 'localhost',
        ...BOTH,
        connection: 'close',
        'content-length': String(initialize().length),
      }
      const more = Array.from({ length: count - Object.keys(own).length }, (_, at) => [`x-${at}`, 'x'])
      const reply = await post(port, initialize(), { ...own, ...Object.fromEntries(more) })
      expect([count, reply.status]).toEqual([count, isWithin ? 200 : 431])
      expect(reply.text.includes('the request has more than 20 headers')).toBe(!isWithin)
    }
    expect(counted('too_many_headers')).toBe(1)
  })
})

describe('time', () => {
  const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  const body = initialize()
  const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

  test('limits.headersMs a head that is late is refused, and one that is just in time is served', async () => {
    const { port, counted } = await serve({ headersMs: 2000 })
    const [early, late] = [new Raw(port).write(HEAD), new Raw(port).write(HEAD)]
    await wait(150)
    early.write(`Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    expect((await early.gone()).status).toBe(200)
    expect((await late.gone()).status).toBe(408)
    expect(late.text).toContain('the request did not arrive in time')
    expect(counted('slow_sender')).toBe(1)
  })

  test('limits.headersMs a connection on which nothing was sent is closed without a reply', async () => {
    const { port, counted } = await serve({ headersMs: 200 })
    const raw = await new Raw(port).gone()
    expect([raw.text, counted('slow_sender')]).toEqual(['', 1])
  })

  test('limits.bodyMs a body that is late is refused, and one that is just in time is served', async () => {
    const { port, counted } = await serve({ bodyMs: 2000 })
    const begun = `${HEAD}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 9)}`
    const [early, late] = [new Raw(port).write(begun), new Raw(port).write(begun)]
    await wait(150)
    early.write(body.slice(9))
    expect((await early.gone()).status).toBe(200)
    await late.gone()
    expect([late.status, late.text]).toEqual([408, expect.stringContaining('"code":1069')])
    expect(counted('slow_sender')).toBe(1)
  })

  test('limits.bodyMs a body of which nothing comes is refused as well', async () => {
    const { port, counted } = await serve({ bodyMs: 200, headersMs: 200 })
    const raw = await new Raw(port).write(`${HEAD}Content-Length: 5\r\n\r\n`).gone()
    expect([raw.status, counted('slow_sender')]).toEqual([408, 1])
  })

  test('limits.idleMs a connection without requests is closed, and one that is used in time is kept', async () => {
    const { port } = await serve({ idleMs: 1500 })
    const request = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
    const raw = await new Raw(port).write(request).until(/\}$/)
    await wait(500)
    raw.text = ''
    await raw.write(request).until(/\}$/)
    expect(raw.status).toBe(200)
    const begun = performance.now()
    await raw.gone()
    expect(performance.now() - begun).toBeGreaterThan(1000)
  })

  test('limits.sessionIdleMs a session ends one millisecond after its time, and no earlier', async () => {
    const clock = { now: 0 }
    const { port, counted } = await serve({ sessionIdleMs: 1000 }, tools(), { now: () => clock.now })
    const session = await open(port)
    for (const ms of [999, 1000]) {
      clock.now += ms
      expect((await session.post(message('ping', {}, 1))).status).toBe(200)
    }
    clock.now += 1001
    expect((await session.post(message('ping', {}, 1))).status).toBe(404)
    expect([counted('unknown_session'), counted('session_expired')]).toEqual([1, 1])
  })

  test('limits.questionMs a question that is answered late is given up, and the handler goes on', async () => {
    const app = createServer({ name: 'asks', version: '1' }).tool('roots', {}, async (_, { roots }) =>
      JSON.stringify(await roots()),
    )
    const { port } = await serve({ questionMs: 1500 }, app)
    const session = await open(port, '2025-11-25', { roots: {} })
    const ask = (id: number): Promise<Stream> => session.stream(call('roots', {}, id))
    const early = await (await ask(1)).until(({ messages }) => messages.length === 1)
    await session.post(
      JSON.stringify({ jsonrpc: '2.0', id: early.messages[0]!['id'], result: { roots: [] } }),
    )
    expect((await early.end()).messages.at(-1)).toMatchObject({ id: 1, result: { isError: false } })
    const late = await (await ask(2)).end()
    expect(late.messages.at(-1)).toMatchObject({
      id: 2,
      result: { isError: true, content: [{ text: expect.stringContaining('no answer within 1500 ms') }] },
    })
  })

  test('limits.drainMs what is running at the end has its time, and no more', async () => {
    for (const [takesMs, isFinished] of [
      [100, true],
      [30_000, false],
    ] as const) {
      const gate = new Gate()
      const app = createServer({ name: 'slow', version: '1' }).tool('slow', {}, async (_, { signal }) => {
        gate.enter()
        await Promise.race([
          wait(takesMs),
          new Promise((resolve) => signal.addEventListener('abort', resolve)),
        ])
        return 'done'
      })
      const { port, server } = await serve({ drainMs: 2000 }, app)
      const session = await open(port)
      const answered = session.post(call('slow')).then(
        ({ text }) => text.includes('done'),
        () => false,
      )
      await gate.entered
      await server.close()
      expect(await answered).toBe(isFinished)
    }
  })
})

test('limits.blockedMs work that blocks the server for too long is logged, and makes it unhealthy', async () => {
  const told: string[] = []
  const app = createServer({ name: 'blocks', version: '1', log: (_, words) => void told.push(words) }).tool(
    'spin',
    { input: { type: 'object', properties: { ms: { type: 'number' } } } },
    ({ ms = 0 }) => {
      const end = performance.now() + ms
      while (performance.now() < end);
      return 'done'
    },
  )
  const { port, counted } = await serve({ blockedMs: 1500 }, app)
  const session = await open(port)
  const health = async (): Promise<number> => (await send(port, { method: 'GET', path: '/healthz' })).status
  await session.post(call('spin', { ms: 100 }))
  expect([await health(), counted('loop_blocked')]).toEqual([200, 0])
  await session.post(call('spin', { ms: 2000 }))
  await expect.poll(() => counted('loop_blocked')).toBe(1)
  expect([await health(), told.length]).toEqual([503, 1])
})

describe('numbers', () => {
  /** A server with a tool that waits for the test. */
  function waiting(): { readonly app: App; readonly gate: Gate } {
    const gate = new Gate()
    const app = createServer({ name: 'waits', version: '1' }).tool('wait', {}, async () => {
      await gate.opened
      return 'done'
    })
    return { app, gate }
  }

  test('limits.inFlight a session has at most so many requests at once', async () => {
    const { app, gate } = waiting()
    const { port, endpoint, counted } = await serve({ inFlight: 3 }, app)
    const session = await open(port)
    const running: Promise<Received>[] = []
    for (let id = 1; id <= 3; id++) running.push(session.post(call('wait', {}, id)))
    await expect.poll(() => endpoint.running).toBe(3)
    const refused = await session.post(call('wait', {}, 4))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
    expect(refused.json).toMatchObject({ id: 4, ...isError('already has 3 requests in flight') })
    expect(counted('too_many_calls')).toBe(1)
    expect((await (await open(port)).post(message('ping', {}, 1))).status).toBe(200)
    gate.open()
    for (const reply of await Promise.all(running)) expect(reply.json).toMatchObject({ result: {} })
    expect((await session.post(call('wait', {}, 5))).status).toBe(200)
  })

  test('limits.sessions there are at most so many sessions in use', async () => {
    const { port, counted } = await serve({ sessions: 3 })
    const streams: Stream[] = []
    for (let each = 0; each < 3; each++) streams.push(await (await open(port)).get())
    const refused = await post(port, initialize(), BOTH)
    expect([refused.status, refused.headers['mcp-session-id']]).toEqual([503, undefined])
    expect(refused.json).toMatchObject(isError('already has 3 sessions open'))
    expect(counted('session_limit')).toBe(1)
    for (const each of streams) each.drop()
  })

  test('limits.streams an authenticated caller listens on at most so many streams, whatever the connection', async () => {
    const { app } = waiting()
    const { fetch, counts } = { fetch: app.fetchWith({}), counts: app.counts }
    const { headers, body } = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const ended = new AbortController()
    const listen = (sub: string, signal = ended.signal): Promise<Response> =>
      fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body, signal }), { auth: { sub } })
    const first = new AbortController()
    expect((await listen('a', first.signal)).status).toBe(200)
    for (let each = 2; each <= 16; each++) expect((await listen('a')).status).toBe(200)
    const refused = await listen('a')
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      isError('already has 16 listen streams open'),
    ])
    expect(counts.get('too_many_streams')).toBe(1)
    expect((await listen('b')).status).toBe(200)
    first.abort()
    await expect.poll(async () => (await listen('a')).status).toBe(200)
    ended.abort()
  })

  test('limits.unparsedBytes all bodies that are being read have a size together', async () => {
    const { port, counted } = await serve({ unparsedBytes: 100_000 })
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    const held = new Raw(port).write(`${head}Content-Length: 200000\r\n\r\n${'x'.repeat(50_000)}`)
    const padded = (bytes: number): string => initialize() + ' '.repeat(bytes - initialize().length)
    await expect.poll(async () => (await post(port, padded(50_001), BOTH)).status).toBe(429)
    expect(counted('too_many_bytes')).toBeGreaterThan(0)
    for (const bytes of [49_999, 50_000]) expect((await post(port, padded(bytes), BOTH)).status).toBe(200)
    held.destroy()
  })
})

describe('streams for a client that reconnects', () => {
  const noisy = (): App =>
    createServer({ name: 'noisy', version: '1' }).tool(
      'say',
      { input: { type: 'object', properties: { count: { type: 'integer' }, size: { type: 'integer' } } } },
      async ({ count = 1, size = 1 }, { progress }) => {
        for (let step = 1; step <= count; step++) {
          progress(step, count, 'x'.repeat(size))
          await new Promise((resolve) => setImmediate(resolve))
        }
        return 'done'
      },
    )
  const say = (args: object, id: number): string => call('say', { ...args }, id, { progressToken: id })

  /** How many messages a client finds that comes back to the beginning of the stream. */
  async function found(session: Session, body: string): Promise<number> {
    const first = await (await session.stream(body)).end()
    const again = await send(session.port, {
      method: 'GET',
      headers: { ...session.headers, accept: 'text/event-stream', 'last-event-id': first.events[0]!.id! },
    })
    return again.status === 200 ? again.events.length : 0
  }

  test('limits.streamEvents so many events are kept, the latest', async () => {
    const { port, counted } = await serve({ streamEvents: 10 }, noisy())
    const session = await open(port)
    // The first event, which only opens the stream, and the answer are kept as well.
    for (const [events, kept] of [
      [9, 8],
      [10, 9],
      [11, 10],
    ] as const) {
      expect([events, await found(session, say({ count: events - 2 }, events))]).toEqual([events, kept])
      expect([events, counted('event_forgotten')]).toEqual([events, events > 10 ? 1 : 0])
    }
  })

  test('limits.streamBytes so many bytes are kept', async () => {
    const { port, counted } = await serve({ streamBytes: 2000 }, noisy())
    const session = await open(port)
    expect(await found(session, say({ count: 1, size: 1000 }, 1))).toBe(2)
    expect(counted('event_forgotten')).toBe(0)
    expect(await found(session, say({ count: 2, size: 1000 }, 2))).toBeLessThan(3)
    expect(counted('event_forgotten')).toBeGreaterThan(0)
  })

  test('limits.keptStreams of so many streams the events are kept', async () => {
    const { port, counted } = await serve({ keptStreams: 3 }, noisy())
    const session = await open(port)
    const places: string[] = []
    for (const [count, forgotten] of [
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 1],
    ] as const) {
      places.push((await (await session.stream(say({}, count))).end()).events[0]!.id!)
      expect([count, counted('stream_forgotten')]).toEqual([count, forgotten])
    }
    const statuses = await Promise.all(places.map(async (place) => (await session.get(place)).status))
    expect(statuses).toEqual([204, 200, 200, 200])
  })
})

test('limits.streamBytes limits.keepAliveMs a reader that reads nothing is aborted: by what waits for it, and by time', async () => {
  for (const limits of [{ streamBytes: 200_000 }, { keepAliveMs: 100, streamBytes: 1e9, unsentBytes: 1e9 }]) {
    const gate = new Gate()
    const app = createServer({ name: 'floods', version: '1' }).tool(
      'flood',
      {},
      async (_, { progress, signal }) => {
        for (let step = 1; step <= 400 && !signal.aborted; step++) {
          progress(step, 400, 'x'.repeat(50_000))
          await new Promise((resolve) => setImmediate(resolve))
        }
        await Promise.race([gate.opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
        return 'done'
      },
    )
    const { port, counted } = await serve(limits, app)
    const { headers, body } = headed('tools/call', { name: 'flood', _meta: { progressToken: 1 } })
    const slow = await stream(port, { headers, body })
    slow.response.pause()
    await expect.poll(() => counted('slow_reader')).toBe(1)
    gate.open()
    slow.drop()
  }
})
