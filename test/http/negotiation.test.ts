import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { BOTH, call, headed, initialize, JSON_TYPE, message, type Sendable } from './messages.ts'
import { open, start } from './server.ts'
import { post, send } from './wire.ts'

const EVENTS = { ...JSON_TYPE, accept: 'text/event-stream' }
const PROGRESS = { progressToken: 'p' }
const HANDSHAKES = REVISIONS.filter((revision) => revision !== '2026-07-28')

describe('Accept', () => {
  test.each([
    ['both types', { accept: 'application/json, text/event-stream' }],
    ['both types with weights', { accept: 'application/json;q=0.1, text/event-stream;q=0.9' }],
    ['anything', { accept: '*/*' }],
    ['nothing said', {}],
    ['JSON alone', { accept: 'application/json' }],
    ['JSON among others', { accept: 'text/html, application/*;q=0.5' }],
  ])('%s is answered in JSON when nothing comes before the answer [R077]', async (_, accept) => {
    const { port } = await start()
    const reply = await post(port, initialize(), { ...JSON_TYPE, ...accept })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.json).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } })
  })

  test.each(['text/event-stream', 'text/*', 'application/json;q=0, text/event-stream'])(
    '%s alone is answered with an event stream [R077] [S4-4-3]',
    async (accept) => {
      const { port } = await start()
      const reply = await post(port, initialize(), { ...JSON_TYPE, accept })
      expect(reply.headers['content-type']).toBe('text/event-stream')
      expect(reply.headers['mcp-session-id']).toBeTypeOf('string')
      expect(JSON.parse(reply.events.at(-1)?.data ?? '')).toMatchObject({ id: 1, result: {} })
    },
  )

  test.each(['text/html', 'application/jsonx', 'application/json;q=0, text/event-stream;q=0.0', 'image/*'])(
    'H.accept-* %s is refused with 406 [R074]',
    async (accept) => {
      const { port } = await start()
      const reply = await post(port, initialize(), { ...JSON_TYPE, accept })
      expect(reply.status).toBe(406)
      expect(reply.json['error']).toMatchObject({ code: -32600 })
    },
  )

  test('GET needs to accept events [R079]', async () => {
    const { port } = await start()
    const session = await open(port)
    const headers = { ...session.headers, accept: 'application/json' }
    expect((await send(port, { method: 'GET', headers })).status).toBe(406)
  })

  test('listening needs to accept events', async () => {
    const { port } = await start()
    const { body, headers } = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect((await post(port, body, { ...headers, accept: 'application/json' })).status).toBe(406)
  })
})

describe('Content-Type and encoding', () => {
  test.each<[string, string | undefined]>([
    ['H.ctype-text', 'text/plain'],
    ['H.ctype-form', 'application/x-www-form-urlencoded'],
    ['H.ctype-multipart', 'multipart/form-data; boundary=x'],
    ['H.ctype-missing', undefined],
    ['H.ctype-disguised', 'text/plain; application/json'],
    ['H.ctype-lookalike', 'application/jsonp'],
    ['H.ctype-lookalike', 'application/json-rpc'],
    ['H.ctype-utf16', 'application/json; charset=utf-16'],
    ['H.ctype-latin1', 'application/json; charset=iso-8859-1'],
  ])('%s %s is refused with 415 [R075] [S2-10.4-1]', async (_, type) => {
    const { port } = await start()
    const reply = await post(port, initialize(), {
      accept: '*/*',
      ...(type !== undefined && { 'content-type': type }),
    })
    expect(reply.status).toBe(415)
    expect(reply.json['error']).toMatchObject({ data: { refusal: { code: 1024 } } })
  })

  test.each([
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="UTF-8"',
    'application/json; v=1',
  ])('%s is JSON [S2-10.4-1]', async (type) => {
    const { port } = await start()
    expect((await post(port, initialize(), { ...BOTH, 'content-type': type })).status).toBe(200)
  })

  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip', Array(500).fill('gzip').join(',')])(
    'H.encoding-* H.gzip-bomb a body in %s is refused with 415',
    async (encoding) => {
      const { port } = await start()
      const bomb = gzipSync(Buffer.alloc(10_000_000, 0x20))
      const reply = await post(port, bomb, { ...BOTH, 'content-encoding': encoding })
      expect(reply.status).toBe(415)
      expect(reply.json['error']).toMatchObject({ data: { refusal: { code: 1070 } } })
    },
  )

  test('the identity encoding counts as no encoding', async () => {
    const { port } = await start()
    expect((await post(port, initialize(), { ...BOTH, 'content-encoding': 'identity' })).status).toBe(200)
  })

  test('H.ctype-utf16 bytes that are not UTF-8 are refused as unreadable [R009]', async () => {
    const { port } = await start()
    for (const bytes of [
      Buffer.from(initialize(), 'utf16le'),
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    ]) {
      const reply = await post(port, bytes, BOTH)
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ error: { code: -32700 } })
      expect(reply.json).not.toHaveProperty('id')
    }
  })

  test('text that is not JSON is 400 and -32700 without an id [R009]', async () => {
    const { port } = await start()
    for (const body of ['', '{', '{"jsonrpc":"2.0","id":1,"method":"ping"', 'null x']) {
      const reply = await post(port, body, BOTH)
      expect([reply.status, reply.json]).toMatchObject([400, { jsonrpc: '2.0', error: { code: -32700 } }])
      expect(reply.json).not.toHaveProperty('id')
    }
  })
})

describe('the version header of revisions with a handshake', () => {
  test.each(HANDSHAKES)('a session of %s is served without it [R090]', async (revision) => {
    const { port } = await start()
    const { 'mcp-protocol-version': _, ...headers } = (await open(port, revision)).headers
    const reply = await post(port, call('echo', { text: 'hi' }), headers)
    expect(reply.json['result']).toMatchObject({ content: [{ text: 'hi' }] })
  })

  test.each(HANDSHAKES)(
    'a session of %s is served whatever supported version of its kind it says',
    async (revision) => {
      const { port } = await start()
      const session = await open(port, revision)
      for (const version of HANDSHAKES) {
        const reply = await session.post(message('ping', {}, 9), { 'mcp-protocol-version': version })
        expect([reply.status, reply.json]).toMatchObject([200, { id: 9, result: {} }])
      }
    },
  )

  test.each(['2020-01-01', '2025-11-26', 'latest', '2025-06-18, 2025-06-18', ' '])(
    'S.version-unknown the header "%s" is refused with 400 on every verb [R089]',
    async (version) => {
      const { port } = await start()
      const session = await open(port)
      const headers = { ...session.headers, 'mcp-protocol-version': version }
      for (const method of ['POST', 'GET', 'DELETE']) {
        const body = method === 'POST' ? message('ping', {}, 9) : ''
        expect((await send(port, { method, headers, body })).status).toBe(400)
      }
      const told = await session.post(message('ping', {}, 9), { 'mcp-protocol-version': version })
      expect(told.json['error']).toMatchObject({ code: -32600, data: { supported: REVISIONS } })
      expect((await session.post(message('ping', {}, 9))).status).toBe(200)
    },
  )

  test('S.version-offer an unknown version in initialize is answered with the newest that has a handshake [R033]', async () => {
    const { port } = await start()
    for (const version of ['1999-01-01', '2026-07-28', '2099-01-01']) {
      expect((await post(port, initialize(version), BOTH)).json['result']).toMatchObject({
        protocolVersion: '2025-11-25',
      })
    }
  })
})

describe('a reply that becomes a stream', () => {
  test.each(HANDSHAKES)(
    'progress before the answer turns the reply into events at %s [R097] [S4-4-3] [S2-10.4-2]',
    async (revision) => {
      const { port } = await start()
      const session = await open(port, revision)
      const reply = await session.post(call('steps', { count: 3 }, 2, PROGRESS))
      expect(reply.headers['content-type']).toBe('text/event-stream')
      const messages = reply.events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data))
      expect(messages.map(({ method }) => method ?? 'answer')).toEqual([
        ...Array(3).fill('notifications/progress'),
        'answer',
      ])
      expect(messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
    },
  )

  test('at 2026-07-28 the events have no ids and the answer is last [R125] [R126]', async () => {
    const { port } = await start()
    const { body, headers } = headed('tools/call', {
      name: 'steps',
      arguments: { count: 3 },
      _meta: PROGRESS,
    })
    const reply = await post(port, body, headers)
    expect(reply.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    expect(reply.headers['cache-control']).toContain('no-transform')
    expect(reply.text).not.toMatch(/^(id|retry|event):/m)
    expect(reply.events.map(({ data }) => JSON.parse(data).method ?? 'answer')).toEqual([
      ...Array(3).fill('notifications/progress'),
      'answer',
    ])
  })

  test.each<[string, Sendable]>([
    ['JSON', { ...JSON_TYPE, accept: 'application/json' }],
    ['events', EVENTS],
  ])('a client that takes only %s still gets the answer [R077]', async (form, accept) => {
    const { port } = await start()
    const session = await open(port)
    const reply = await session.post(call('steps', { count: 2 }, 2, PROGRESS), accept)
    const isJson = form === 'JSON'
    expect(reply.headers['content-type']).toBe(isJson ? 'application/json' : 'text/event-stream')
    const answer = isJson ? reply.json : JSON.parse(reply.events.at(-1)?.data ?? '')
    expect(answer).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
  })

  test('an error is a stream event for a client that takes only events, and keeps its status before one began', async () => {
    const { port } = await start()
    const session = await open(port)
    const inBand = await session.post(call('nothing'), { accept: 'text/event-stream' })
    expect([inBand.status, JSON.parse(inBand.events[0]?.data ?? '')]).toMatchObject([
      200,
      { error: { code: -32602 } },
    ])
    const { body, headers } = headed('nothing/here')
    const early = await post(port, body, { ...headers, accept: 'text/event-stream' })
    expect([early.status, early.json]).toMatchObject([404, { error: { code: -32601 } }])
  })
})

describe('verbs', () => {
  test.each(['PUT', 'PATCH', 'HEAD', 'TRACE', 'PROPFIND'])(
    'H.verb-* %s is refused with 405',
    async (method) => {
      const { port } = await start()
      const reply = await send(port, { method, headers: BOTH })
      expect([reply.status, reply.headers.allow]).toEqual([405, 'POST, GET, DELETE, OPTIONS'])
    },
  )
})
