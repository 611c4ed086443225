import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { Gate, open, Session, start, tools } from './server.ts'
import { post, send } from './wire.ts'

const HANDSHAKES = REVISIONS.filter((revision) => revision !== '2026-07-28')

describe('opening and ending', () => {
  test.each(HANDSHAKES)(
    'initialize at %s gives a session id of visible ASCII [R082] [S4-4-1]',
    async (revision) => {
      const { port } = await start()
      const session = await open(port, revision)
      expect(session.id).toMatch(/^[\x21-\x7e]{16,}$/)
      expect((await session.post(call('echo', { text: 'hi' }))).json).toMatchObject({
        result: { content: [{ text: 'hi' }] },
      })
    },
  )

  test('S.entropy session ids differ in at least 122 random bits [S4-7-8]', async () => {
    const { port } = await start()
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await open(port)).id))
    expect(new Set(ids).size).toBe(100)
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    // Where every digit is drawn anew, a hundred ids show nearly all of the sixteen at each place.
    for (let place = 0; place < 36; place++) {
      const digits = new Set(ids.map((id) => id[place])).size
      const fixed = [8, 13, 14, 18, 23].includes(place)
      expect([place, fixed ? digits === 1 : digits >= (place === 19 ? 2 : 8)]).toEqual([place, true])
    }
  })

  test('S.missing a request without a session id is 400 [R084] [S2-10.4-3]', async () => {
    const { port } = await start()
    for (const body of [
      message('ping', {}, 1),
      message('notifications/initialized'),
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]) {
      expect((await post(port, body, BOTH)).status).toBe(400)
    }
    for (const method of ['GET', 'DELETE']) {
      expect((await send(port, { method, headers: { accept: 'text/event-stream' } })).status).toBe(400)
    }
  })

  test.each([
    'nothing',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '../../x',
    'a'.repeat(4000),
    "' OR 1=1",
  ])('S.unknown S.proto a session id that never was, such as %.20s, is 404 [R085]', async (id) => {
    const { port } = await start()
    const headers = { ...BOTH, 'mcp-session-id': id }
    for (const sent of [{ body: message('ping', {}, 1) }, { method: 'GET' }, { method: 'DELETE' }]) {
      const reply = await send(port, { headers, ...sent })
      expect([reply.status, reply.json['error']]).toMatchObject([404, { code: -32001 }])
    }
  })

  test('S.doubled two session headers are refused [R085]', async () => {
    const { port } = await start()
    const { id } = await open(port)
    const reply = await send(port, {
      body: message('ping', {}, 1),
      headers: { ...BOTH, 'mcp-session-id': [id, id] },
    })
    expect(reply.status).toBe(404)
  })

  test('S.deleted after DELETE the session is 404 on every verb [R085] [S4-5-10]', async () => {
    const { port, endpoint, app } = await start()
    const session = await open(port)
    const stream = await session.get()
    expect((await session.delete()).status).toBe(200)
    await stream.end()
    expect((await session.post(message('ping', {}, 1))).status).toBe(404)
    expect((await session.get()).status).toBe(404)
    expect((await session.delete()).status).toBe(404)
    expect([endpoint.sessions.size, serviceOf(app).changes.listeners]).toEqual([0, 0])
  })

  test('DELETE stops what is running', async () => {
    const gate = new Gate()
    let aborted = false
    const app = tools().tool('wait', {}, async (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
        gate.open()
      })
      gate.enter()
      await gate.opened
    })
    const { port } = await start(app)
    const session = await open(port)
    const reply = session.post(call('wait'))
    await gate.entered
    await session.delete()
    await reply
    expect(aborted).toBe(true)
  })

  test('a failed initialize gives no session id and keeps no session', async () => {
    const { port, endpoint } = await start()
    const reply = await post(port, message('initialize', { protocolVersion: '2025-11-25' }, 1), BOTH)
    expect(reply.json['error']).toMatchObject({ code: -32602 })
    expect(reply.headers).not.toHaveProperty('mcp-session-id')
    expect(endpoint.sessions.size).toBe(0)
  })

  test('a second initialize of a session is refused, with an unknown id it is 404', async () => {
    const { port } = await start()
    const session = await open(port)
    expect((await session.post(initialize())).status).toBe(400)
    expect((await post(port, initialize(), { ...BOTH, 'mcp-session-id': 'x' })).status).toBe(404)
  })

  test.each(HANDSHAKES)(
    'notifications and responses at %s get 202 without a body [R076] [R008]',
    async (revision) => {
      const { port } = await start()
      const session = await open(port, revision)
      const response = JSON.stringify({ jsonrpc: '2.0', id: 77, result: {} })
      for (const body of [message('notifications/initialized'), message('notifications/odd'), response]) {
        const reply = await session.post(body)
        expect([reply.status, reply.text]).toEqual([202, ''])
      }
    },
  )

  test('an unknown method is an error in a reply of 200 [R011]', async () => {
    const { port } = await start()
    const reply = await (await open(port)).post(message('nothing/here', {}, 5))
    expect([reply.status, reply.json]).toMatchObject([200, { id: 5, error: { code: -32601 } }])
  })
})

describe('batches', () => {
  test('at 2025-03-26 a batch is answered in order, without notifications [R013] [R015] [S2-1.5-1] [S2-1.5-3] [S2-1.5-4] [S2-1.5-6]', async () => {
    const { port } = await start()
    const session = await open(port, '2025-03-26')
    const batch = [
      call('steps', { count: 3 }, 10),
      message('notifications/odd'),
      call('echo', { text: 'b' }, 11),
    ]
    const reply = await session.post(`[${batch.join(',')}]`)
    expect(reply.json).toMatchObject([{ id: 10 }, { id: 11, result: { content: [{ text: 'b' }] } }])
  })

  test('invalid members get an error each, valid ones are answered [S2-1.5-5]', async () => {
    const { port } = await start()
    const session = await open(port, '2025-03-26')
    const reply = await session.post(
      `[1,[],${message('ping', {}, 1)},{"jsonrpc":"1.0","id":9,"method":"ping"}]`,
    )
    expect(reply.json).toMatchObject([
      { error: { code: -32600 } },
      { error: { code: -32600 } },
      { id: 1, result: {} },
      { id: 9, error: { code: -32600 } },
    ])
  })

  test('a batch of notifications or responses is 202 [R013] [R076]', async () => {
    const { port } = await start()
    const session = await open(port, '2025-03-26')
    const reply = await session.post(`[${message('notifications/odd')},{"jsonrpc":"2.0","id":5,"result":{}}]`)
    expect([reply.status, reply.text]).toEqual([202, ''])
  })

  test('H.batch-* empty, huge, and with initialize it is refused [R014] [S2-1.5-2]', async () => {
    const { port } = await start()
    const session = await open(port, '2025-03-26')
    const huge = `[${Array.from({ length: 101 }, (_, id) => message('ping', {}, id)).join(',')}]`
    for (const body of ['[]', huge, `[${initialize()}]`]) {
      const reply = await session.post(body)
      expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32600 }])
    }
  })

  test('H.batch-* without a session, or with one that is over, it is refused and the server lives', async () => {
    const { port } = await start()
    const batch = `[${message('ping', {}, 1)}]`
    expect((await post(port, batch, BOTH)).status).toBe(400)
    expect((await post(port, batch, { ...BOTH, 'mcp-session-id': 'gone' })).status).toBe(404)
    expect((await post(port, initialize(), BOTH)).status).toBe(200)
  })

  test.each(HANDSHAKES.filter((revision) => revision !== '2025-03-26'))(
    'H.batch-2025 at %s a batch is refused with -32600 [R016] [S4-1-1] [S4-2-3]',
    async (revision) => {
      const { port } = await start()
      const session = await open(port, revision)
      for (const body of [`[${message('ping', {}, 1)}]`, '[]']) {
        const reply = await session.post(body)
        expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32600 }])
      }
    },
  )

  test('N.batch at 2026-07-28 a batch is refused [R016] [R110]', async () => {
    const { port } = await start()
    const { body, headers } = headed('tools/list')
    const reply = await post(port, `[${body}]`, headers)
    expect([reply.status, reply.json['error']]).toMatchObject([400, { code: -32600 }])
  })
})

describe('ids in flight', () => {
  test('an id that is being answered is refused, and free again afterwards [R003]', async () => {
    const gate = new Gate()
    const app = tools().tool('wait', {}, async () => {
      gate.enter()
      await gate.opened
      return 'waited'
    })
    const { port } = await start(app)
    const session = await open(port)
    const first = session.post(call('wait', {}, 5))
    await gate.entered
    expect((await session.post(message('ping', {}, 5))).json['error']).toMatchObject({ code: -32600 })
    gate.open()
    expect((await first).json).toMatchObject({ id: 5, result: { content: [{ text: 'waited' }] } })
    expect((await session.post(message('ping', {}, 5))).json).toMatchObject({ result: {} })
  })

  test('a session has a limit of requests being answered', async () => {
    const gate = new Gate()
    const app = tools().tool('wait', {}, () => gate.opened)
    const { port } = await start(app, { limits: { inFlight: 2 } })
    const session = await open(port)
    const waiting = [session.post(call('wait', {}, 5)), session.post(call('wait', {}, 6))]
    await expect.poll(async () => (await session.post(message('ping', {}, 7))).status).toBe(429)
    expect((await session.post(message('ping', {}, 7))).headers['retry-after']).toBe('1')
    gate.open()
    await Promise.all(waiting)
    expect((await session.post(message('ping', {}, 7))).status).toBe(200)
  })

  test('a cancelled request is stopped and not answered [R194] [S4-14-3]', async () => {
    const gate = new Gate()
    const app = tools().tool('wait', {}, async (_, { signal }) => {
      gate.enter()
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
    })
    const { port } = await start(app)
    const session = await open(port)
    const reply = session.post(call('wait', {}, 5))
    await gate.entered
    expect((await session.post(message('notifications/cancelled', { requestId: 5 }))).status).toBe(202)
    const { status, headers, text } = await reply
    expect([status, headers['content-type'], text]).toEqual([200, 'text/event-stream', ''])
    for (const requestId of [5, 99, 'x', null]) {
      expect((await session.post(message('notifications/cancelled', { requestId }))).status).toBe(202)
    }
  })
})

describe('how long and how many', () => {
  test('an idle session times out, by our own clock [R085]', async () => {
    let now = 0
    const { port, endpoint } = await start(tools(), { limits: { sessionIdleMs: 1000 }, now: () => now })
    const [kept, left] = [await open(port), await open(port)]
    now = 900
    expect((await kept.post(message('ping', {}, 1))).status).toBe(200)
    now = 1700
    expect((await left.post(message('ping', {}, 1))).status).toBe(404)
    expect((await kept.post(message('ping', {}, 1))).status).toBe(200)
    now = 10_000
    endpoint.sessions.sweep()
    expect(endpoint.sessions.size).toBe(0)
  })

  test('an open stream keeps its session, whose time begins when the stream is over', async () => {
    let now = 0
    const { port, endpoint } = await start(tools(), { limits: { sessionIdleMs: 1000 }, now: () => now })
    const session = await open(port)
    const stream = await session.get()
    now = 5000
    endpoint.sessions.sweep()
    expect(endpoint.sessions.size).toBe(1)
    stream.drop()
    await expect.poll(async () => (await session.get('s_0')).status).toBe(200)
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
  })

  test('F13 a session whose clock jumps back stays', async () => {
    let now = 1_000_000
    const { port } = await start(tools(), { limits: { sessionIdleMs: 1000 }, now: () => now })
    const session = await open(port)
    now = 0
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
  })

  test('S.flood beyond the limit of sessions 503 says when to retry; ending one makes room', async () => {
    const { port, endpoint } = await start(tools(), { limits: { sessions: 3 } })
    const sessions = await Promise.all([open(port), open(port), open(port)])
    const refused = await post(port, initialize(), BOTH)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
    expect(refused.json['error']).toMatchObject({
      data: { refusal: { name: 'RESOURCE_EXHAUSTED', retryAfterMs: 30_000 } },
    })
    expect(refused.headers).not.toHaveProperty('mcp-session-id')
    await sessions[0].delete()
    await open(port)
    expect(endpoint.sessions.size).toBe(3)
  })

  test('of handshakes that run at the same time only as many succeed as there is room', async () => {
    const gate = new Gate()
    let waiting = 0
    const app = tools().use('initialize', async (_context, next) => {
      if (++waiting === 3) gate.open()
      await gate.opened
      return next()
    })
    const { port, endpoint } = await start(app, { limits: { sessions: 2 } })
    const before = serviceOf(app).changes.listeners
    const replies = await Promise.all([1, 2, 3].map(() => post(port, initialize(), BOTH)))
    const [refused, ...others] = replies.toSorted((one, other) => other.status - one.status)
    expect(others.map(({ status }) => status)).toEqual([200, 200])
    expect([refused?.status, refused?.headers['retry-after']]).toEqual([503, '30'])
    expect(refused?.json['error']).toMatchObject({ data: { refusal: { name: 'RESOURCE_EXHAUSTED' } } })
    expect(refused?.headers).not.toHaveProperty('mcp-session-id')
    expect([endpoint.sessions.size, serviceOf(app).changes.listeners - before]).toEqual([2, 2])
  })

  test('of two handshakes that run at the same time the later one evicts a session that was idle for long', async () => {
    let now = 0
    const gate = new Gate()
    let count = 0
    const app = tools().use('initialize', async (_context, next) => {
      if (++count === 3) gate.open()
      if (count > 1) await gate.opened
      return next()
    })
    const { port, endpoint } = await start(app, { limits: { sessions: 2 }, now: () => now })
    const first = await open(port)
    now = 10_000
    await Promise.all([open(port), open(port)])
    expect([endpoint.sessions.size, app.counts.get('session_evicted')]).toEqual([2, 1])
    expect((await first.post(message('ping', {}, 1))).status).toBe(404)
  })

  test.each([
    ['a middleware throws', () => Promise.reject(new Error('not today'))],
    ['its result cannot be encoded', () => Promise.resolve({ instructions: 1n as never })],
  ])('a handshake that fails because %s opens no session and leaves no listener', async (_why, more) => {
    const app = tools().use('initialize', async (_context, next) => ({
      ...(await next()),
      ...(await more()),
    }))
    const { port, endpoint } = await start(app)
    const before = serviceOf(app).changes.listeners
    const reply = await post(port, initialize(), BOTH)
    expect(reply.json['error']).toMatchObject({ code: -32603 })
    expect(reply.headers).not.toHaveProperty('mcp-session-id')
    expect([endpoint.sessions.size, serviceOf(app).changes.listeners]).toEqual([0, before])
  })

  test('while there is room, a newcomer evicts nobody, however long others were idle', async () => {
    let now = 0
    const { port, endpoint, app } = await start(tools(), { limits: { sessions: 3 }, now: () => now })
    const first = await open(port)
    now = 20_000
    await open(port)
    expect(endpoint.sessions.size).toBe(2)
    expect((await first.post(message('ping', {}, 1))).status).toBe(200)
    expect(app.counts.get('session_evicted')).toBeUndefined()
  })

  test('S.flood abandoned sessions make room when their time is over', async () => {
    let now = 0
    const limits = { sessions: 3, sessionIdleMs: 1000 }
    const { port, endpoint } = await start(tools(), { limits, now: () => now })
    await Promise.all([open(port), open(port), open(port)])
    now = 2000
    await open(port)
    expect(endpoint.sessions.size).toBe(1)
  })
})

describe('owners', () => {
  type Asked = IncomingMessage & { auth?: object }
  const OWNER = { sub: 'ann', client_id: 'x' }
  const as = (auth: object): Record<string, string> => ({ ...BOTH, 'x-caller': JSON.stringify(auth) })

  async function startGuarded(app = tools()): Promise<number> {
    const serve = app.node()
    const server = createHttp((request: Asked, response: ServerResponse) => {
      request.auth = JSON.parse(String(request.headers['x-caller'])) as object
      serve(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }

  test.each([
    ['another subject', { iss: 'a', sub: 'ann' }, { iss: 'a', sub: 'bob' }],
    ['another issuer', { iss: 'a', sub: 'ann' }, { iss: 'b', sub: 'ann' }],
    ['another client', { sub: 'ann', client_id: 'x' }, { sub: 'ann', client_id: 'y' }],
    ['another client, as some libraries spell it', { sub: 'a', clientId: 'x' }, { sub: 'a', clientId: 'y' }],
    ['joined names', { iss: 'a', sub: 'b,c' }, { iss: 'a,b', sub: 'c' }],
  ])('S.foreign S.delete-foreign to %s a session does not exist [R085] [S4-7-9]', async (_, owner, other) => {
    const port = await startGuarded()
    const opened = await post(port, initialize(), as(owner))
    const id = { 'mcp-session-id': opened.headers['mcp-session-id'] as string }
    const mine = new Session(port, { ...as(owner), ...id })
    const theirs = new Session(port, { ...as(other), ...id })
    const stranger = new Session(port, { ...as(other), 'mcp-session-id': 'x' })
    const same = async (act: (session: Session) => Promise<{ readonly status: number }>): Promise<void> => {
      expect((await act(theirs)).status).toBe(404)
      expect((await act(stranger)).status).toBe(404)
    }
    await same((session) => session.post(message('ping', {}, 1)))
    await same((session) => session.get())
    await same((session) => session.delete())
    expect((await theirs.post(message('ping', {}, 1))).text).toBe(
      (await stranger.post(message('ping', {}, 1))).text,
    )
    expect((await mine.post(message('ping', {}, 1))).status).toBe(200)
  })

  test.each([
    ['another user', { sub: 'bob', client_id: 'x' }],
    ['another client of the same user', { sub: 'ann', client_id: 'y' }],
  ])('%s cannot answer the question of a session', async (_, other) => {
    const schema = { type: 'object', properties: {} } as const
    const app = tools().tool('ask', {}, async (__, { elicit }) => (await elicit('sure?', schema)).action)
    const port = await startGuarded(app)
    const opened = await post(port, initialize('2025-11-25', { elicitation: {} }), as(OWNER))
    const id = { 'mcp-session-id': opened.headers['mcp-session-id'] as string }
    const [mine, theirs] = [OWNER, other].map((auth) => new Session(port, { ...as(auth), ...id }))
    const stream = await mine!.stream(call('ask'))
    await stream.until(({ messages }) => messages.length === 1)
    const answer = (action: string): string =>
      JSON.stringify({ jsonrpc: '2.0', id: stream.messages[0]?.['id'], result: { action } })
    expect((await theirs!.post(answer('accept'))).status).toBe(404)
    expect((await mine!.post(answer('decline'))).status).toBe(202)
    await stream.end()
    expect(stream.messages[1]).toMatchObject({ id: 2, result: { content: [{ text: 'decline' }] } })
  })

  test('a caller whose token was renewed keeps the session', async () => {
    const port = await startGuarded()
    const opened = await post(port, initialize(), as({ sub: 'ann', exp: 1 }))
    const headers = {
      ...as({ sub: 'ann', exp: 2 }),
      'mcp-session-id': opened.headers['mcp-session-id'] as string,
    }
    expect((await post(port, message('ping', {}, 1), headers)).status).toBe(200)
  })

  test('over fetch the owner comes with the request [S4-7-9]', async () => {
    const fetch = tools().fetchWith({})
    const ask = (body: string, headers: Record<string, string>, sub: string): Promise<Response> =>
      fetch(new Request('http://localhost/mcp', { method: 'POST', body, headers }), { auth: { sub } })
    const opened = await ask(initialize(), { ...BOTH }, 'ann')
    const headers = { ...BOTH, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    expect((await ask(message('ping', {}, 1), headers, 'bob')).status).toBe(404)
    expect((await ask(message('ping', {}, 1), headers, 'ann')).status).toBe(200)
  })
})

test('a handshake that a middleware answers by itself opens no session, and takes no place of one', async () => {
  const app = tools()
  app.use('initialize', () => ({
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'closed' },
  }))
  const { port, endpoint } = await start(app, { limits: { sessions: 1 } })
  for (let count = 0; count < 2; count++) {
    const reply = await post(port, initialize(), BOTH)
    expect([reply.status, reply.headers['mcp-session-id']]).toEqual([200, undefined])
  }
  expect(endpoint.sessions.size).toBe(0)
})

test('S.flood handshakes that run at the same time leave no more sessions than allowed', async () => {
  const gate = new Gate()
  let waiting = 0
  const app = tools()
  app.use('initialize', async (_context, next) => {
    waiting++
    await gate.opened
    return next()
  })
  const { port, endpoint } = await start(app, { limits: { sessions: 5 } })
  const handshakes = Array.from({ length: 60 }, () => post(port, initialize(), BOTH))
  await expect.poll(() => waiting).toBe(60)
  gate.open()
  const replies = await Promise.all(handshakes)
  const [opened, refused] = [replies.filter(({ status }) => status === 200), replies.filter(isRefused)]
  expect([opened.length, refused.length, endpoint.sessions.size]).toEqual([5, 55, 5])
  for (const { headers, json } of refused) {
    expect([headers['retry-after'], headers['mcp-session-id']]).toEqual(['30', undefined])
    expect(json['error']).toMatchObject({ data: { refusal: { name: 'RESOURCE_EXHAUSTED' } } })
  }
  expect(serviceOf(app).changes.listeners).toBe(5)
})

function isRefused({ status }: { readonly status: number }): boolean {
  return status === 503
}
