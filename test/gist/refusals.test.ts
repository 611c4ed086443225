import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/index.ts'
import { JSON_TYPE } from '../http/messages.ts'
import { begin, Raw, send } from '../http/wire.ts'
import { envelope, post, shake, start, tools } from './server.ts'

const ID = '00000000-0000-4000-8000-000000000001'

describe('an envelope', () => {
  test.each<[string, unknown, RegExp]>([
    ['that is a list', [], /not an object/],
    ['that is a text', '"hello"', /not an object/],
    ['that is null', 'null', /not an object/],
    ['that is empty', {}, /request_id is not a UUID/],
    ['of JSON-RPC', { jsonrpc: '2.0', id: 1, method: 'ping' }, /send it to the MCP path/],
    ['without a request_id', { tool_id: 'echo' }, /request_id is not a UUID/],
    ['with a request_id that is no UUID', { request_id: '1', tool_id: 'echo' }, /request_id is not a UUID/],
    ['with a number for a request_id', { request_id: 7, tool_id: 'echo' }, /request_id is not a UUID/],
    ['without a tool_id', { request_id: ID }, /tool_id is not the name/],
    ['with an empty tool_id', { request_id: ID, tool_id: '' }, /tool_id is not the name/],
    [
      'with a list of arguments',
      { request_id: ID, tool_id: 'echo', arguments: [] },
      /arguments is not an obj/,
    ],
    [
      'with null for arguments',
      { request_id: ID, tool_id: 'echo', arguments: null },
      /arguments is not an obj/,
    ],
    [
      'with an unknown mode',
      { request_id: ID, tool_id: 'echo', mode: 'later' },
      /neither "sync" nor "async"/,
    ],
    [
      'with a session that is no UUID',
      { request_id: ID, tool_id: 'echo', session: 'x' },
      /session is not a UU/,
    ],
    [
      'with a context that is none',
      { request_id: ID, tool_id: 'echo', context: 'x' },
      /context is not an obj/,
    ],
    [
      'with a numeric trace',
      { request_id: ID, tool_id: 'echo', context: { trace_id: 1 } },
      /trace_id is not a/,
    ],
    [
      'with a client name that is too long',
      { request_id: ID, tool_id: 'echo', context: { client_name: 'x'.repeat(257) } },
      /client_name is not a text of 1 to 256/,
    ],
    ['that lists what cannot be listed', { request_id: ID, list: 'prompts' }, /list is not "tools"/],
    ['with a version that is none', { mcp_version: 'latest', capabilities: [] }, /neither a month/],
    ['with a month that is none', { mcp_version: '2025-13', capabilities: [] }, /neither a month/],
    ['with a number for a version', { mcp_version: 2025, capabilities: [] }, /neither a month/],
    ['with capabilities that are no list', { mcp_version: '2025-11', capabilities: 'stream' }, /not a list/],
    ['with a capability that is no word', { mcp_version: '2025-11', capabilities: [1] }, /not a list/],
    [
      'with too many capabilities',
      { mcp_version: '2025-11', capabilities: Array.from({ length: 65 }, () => 'x') },
      /at most 64/,
    ],
    ['with an empty client_id', { mcp_version: '2025-11', client_id: '' }, /client_id is not a text/],
  ])('%s is refused with what is wrong [S1-4.1-1]', async (_, value, words) => {
    const { port } = await start()
    const reply = await post(port, value)
    expect([reply.status, reply.headers['content-type']]).toEqual([400, 'application/json'])
    const { request_id: id } = (typeof value === 'object' ? value : {}) as { request_id?: string }
    expect(reply.json).toEqual({
      request_id: id === ID ? ID : null,
      status: 'error',
      error: {
        code: -32602,
        message: expect.stringMatching(words),
        refusal: expect.objectContaining({ code: 1021, name: 'INVALID_PARAMS' }),
      },
      metadata: { duration_ms: expect.any(Number) },
    })
  })

  test('that asks for a job is rejected, since there are none [S1-4.1-1]', async () => {
    const { port } = await start()
    const { status, json } = await post(port, envelope('echo', { text: 'x' }, { mode: 'async' }))
    expect(status).toBe(400)
    expect(json).toMatchObject({
      status: 'error',
      error: { message: expect.stringMatching(/jobs, which are not enabled here; send mode "sync"/) },
    })
  })

  test.each([
    ['not JSON', '{"request_id":', -32700],
    ['empty', '', -32700],
    ['two values', '{} {}', -32700],
    ['a way out of a wrapping', '{},"id":1', -32700],
    ['a key twice', `{"request_id":"${ID}","tool_id":"echo","tool_id":"sum"}`, -32600],
    [
      'a key twice in its arguments',
      `{"request_id":"${ID}","tool_id":"echo","arguments":{"text":"a","text":"b"}}`,
      -32600,
    ],
    [
      'a key twice, once escaped',
      `{"request_id":"${ID}","tool_id":"echo","arguments":{"text":"a","\\u0074ext":"b"}}`,
      -32600,
    ],
    ['too deep', `{"request_id":"${ID}","arguments":${'['.repeat(200)}${']'.repeat(200)}}`, -32600],
  ])('with a body that is %s is refused', async (_, body, code) => {
    const { port } = await start()
    const reply = await post(port, body)
    expect([reply.status, reply.json]).toMatchObject([
      400,
      { status: 'error', error: { code, refusal: { code: 1066 } } },
    ])
  })

  test('may be as deep as any other message, and no deeper', async () => {
    const { port } = await start(tools({ depth: 6 }).tool('any', {}, () => 'ok'))
    const nested = (levels: number): string =>
      `{"request_id":"${ID}","tool_id":"any","arguments":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`
    expect((await post(port, nested(4))).status).toBe(200)
    expect((await post(port, nested(5))).json).toMatchObject({
      error: { message: expect.stringContaining('deeper than 6') },
    })
  })

  test('may have as many values as any other message, and no more [limits.values]', async () => {
    const { port } = await start(tools({ values: 20 }).tool('any', {}, () => 'ok'))
    const many = (values: number): string =>
      `{"request_id":"${ID}","tool_id":"any","arguments":{"a":[${Array.from({ length: values - 5 }, () => '{}').join()}]}}`
    expect((await post(port, many(20))).status).toBe(200)
    expect((await post(port, many(21))).json).toMatchObject({
      error: { code: -32600, message: 'the message has more than 20 values' },
    })
  })

  test('that is not UTF-8 is refused', async () => {
    const { port } = await start()
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    const reply = await send(port, { path: '/gist', body, headers: JSON_TYPE })
    expect([reply.status, reply.json]).toMatchObject([400, { status: 'error', error: { code: -32700 } }])
  })

  test('with more members, or a longer text, than allowed is refused', async () => {
    const { port } = await start(tools({ keys: 50, stringLength: 100 }))
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at]))
    for (const args of [many, { text: 'x'.repeat(200) }]) {
      const reply = await post(port, envelope('echo', args))
      expect([reply.status, reply.json]).toMatchObject([expect.any(Number), { status: 'error' }])
      expect(reply.status).toBeGreaterThanOrEqual(400)
    }
  })

  test('cannot reach what every object has', async () => {
    const { port } = await start()
    const body = `{"request_id":"${ID}","tool_id":"echo","__proto__":{"mode":"async"},"arguments":{"text":"x","__proto__":1}}`
    expect((await post(port, body)).json).toMatchObject({ status: 'success' })
    expect((await post(port, envelope('__proto__'))).json).toMatchObject({
      error: { refusal: { code: 1048 } },
    })
    expect((await post(port, envelope('constructor'))).status).toBe(404)
  })
})

describe('a tool', () => {
  test('that does not exist is 404, with the one that was meant', async () => {
    const { port } = await start()
    const { status, json } = await post(port, envelope('ehco'))
    expect([status, json]).toMatchObject([
      404,
      { status: 'error', error: { code: -32602, message: expect.stringContaining('"echo"') } },
    ])
  })

  test('is never there on a server that has none', async () => {
    const { port } = await start(createServer({ name: 'bare', version: '1' }))
    const { status, json } = await post(port, envelope('any'))
    expect([status, json]).toMatchObject([404, { error: { code: -32601 } }])
  })
})

describe('the head of a request', () => {
  test.each([
    ['another verb', { method: 'GET' }, 405],
    ['an unknown verb', { method: 'PURGE' }, 405],
    ['DELETE', { method: 'DELETE' }, 405],
    ['another type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['no type', { headers: {} }, 415],
    ['a compressed body', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }, 415],
    ['nothing that it accepts', { headers: { ...JSON_TYPE, accept: 'image/png' } }, 406],
    ['a foreign host', { headers: { ...JSON_TYPE, host: 'evil.example' } }, 403],
    ['a foreign origin', { headers: { ...JSON_TYPE, origin: 'http://evil.example' } }, 403],
  ])('with %s is refused in an envelope', async (_, sent, status) => {
    const { port } = await start()
    const reply = await send(port, { path: '/gist', body: '{}', headers: JSON_TYPE, ...sent })
    expect([reply.status, reply.headers['content-type']]).toEqual([status, 'application/json'])
    expect(reply.json).toMatchObject({ request_id: null, status: 'error', error: { code: -32600 } })
    expect(reply.headers['allow']).toBe(status === 405 ? 'POST, OPTIONS' : undefined)
  })

  test('lets in the web pages that the server names', async () => {
    const { port } = await start(tools(), { cors: ['https://desk.example'] })
    const origin = { origin: 'https://desk.example' }
    const ahead = await send(port, { method: 'OPTIONS', path: '/gist', headers: origin })
    expect([ahead.status, ahead.headers['access-control-allow-origin']]).toEqual([204, origin.origin])
    const reply = await post(port, envelope('echo', { text: 'x' }), origin)
    expect(reply.headers['access-control-allow-origin']).toBe(origin.origin)
    const wrong = await post(port, '{', origin)
    expect([wrong.status, wrong.headers['access-control-allow-origin']]).toEqual([400, origin.origin])
  })
})

describe('the route', () => {
  test('is off unless asked for', async () => {
    const { port } = await start(tools(), { gist: false })
    expect((await post(port, envelope('echo', { text: 'x' }))).status).toBe(404)
  })

  test('is beside /mcp, and beside HTTP+SSE', async () => {
    const { port } = await start(tools(), { sse: true })
    const ping =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}'
    expect((await send(port, { body: ping, headers: JSON_TYPE })).status).toBe(200)
    expect((await post(port, envelope('echo', { text: 'x' }))).status).toBe(200)
    expect((await send(port, { path: '/gist?x=1', body: '{}', headers: JSON_TYPE })).status).toBe(400)
    expect((await send(port, { path: '/gist/more', body: '{}', headers: JSON_TYPE })).status).toBe(404)
    const events = await begin(port, {
      method: 'GET',
      path: '/sse',
      headers: { accept: 'text/event-stream' },
    })
    onTestFinished(() => void events.destroy())
    expect(events.statusCode).toBe(200)
  })

  test('cannot be where MCP is, and has no options but its own', async () => {
    const app = tools()
    await expect(app.listen({ http: { port: 0, gist: true, path: '/gist' } })).rejects.toThrow(/option gist/)
    await expect(app.listen({ http: { port: 0, gist: { cycle: 'week' as 'month' } } })).rejects.toThrow(
      /'month'/,
    )
    expect(() => app.node({ gist: 'on' as unknown as boolean })).toThrow(
      /gist must be true or false, or an object/,
    )
    expect(() => app.node({ gist: { cylce: 'month' } as object })).toThrow(/did you mean "cycle"/)
  })
})

describe('a body', () => {
  test('beyond the limit is refused by its head, and while it is read', async () => {
    const { port } = await start(tools({ httpBytes: 1000 }))
    const reply = await post(port, envelope('echo', { text: 'x'.repeat(1000) }))
    const refused = { request_id: null, status: 'error', error: { code: -32600, refusal: { code: 1068 } } }
    expect([reply.status, reply.json]).toMatchObject([413, refused])
    const raw = new Raw(port)
    onTestFinished(() => raw.destroy())
    raw.write('POST /gist HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n')
    raw.write(`Transfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1001)}\r\n`)
    await raw.until(/"status":"error"/)
    expect(raw.status).toBe(413)
  })

  test('that never arrives times out', async () => {
    const { port } = await start(tools({ bodyMs: 50 }))
    const raw = new Raw(port)
    onTestFinished(() => raw.destroy())
    raw.write('POST /gist HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n')
    raw.write('Content-Length: 100\r\n\r\n{"request_id"')
    await raw.until(/"status":"error"/)
    expect(raw.status).toBe(408)
  })
})

describe('a session', () => {
  test('that was never opened is 404 [S1-4.1-1]', async () => {
    const { port } = await start()
    const { status, json } = await post(port, envelope('echo', { text: 'x' }, { session: ID }))
    expect([status, json]).toMatchObject([404, { error: { code: -32001, refusal: { code: 1016 } } }])
  })

  test('is not accepted by MCP, nor are sessions of MCP accepted here', async () => {
    const { port } = await start()
    const { session } = await shake(port)
    const headers = { ...JSON_TYPE, 'mcp-session-id': session as string }
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    expect((await send(port, { body: ping, headers })).status).toBe(404)
  })

  test('times out when it is not used', async () => {
    const { port, app } = await start(tools({ sessionIdleMs: 30 }))
    const { session } = await shake(port)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect((await post(port, envelope('echo', { text: 'x' }, { session }))).status).toBe(404)
    expect(app.counts.get('session_expired')).toBe(1)
  })

  test('is one of a bounded number, of which those in use stay', async () => {
    const { port } = await start(tools({ sessions: 2 }))
    const { session } = await shake(port)
    await shake(port)
    const reply = await post(port, { mcp_version: '2025-11' })
    expect([reply.status, reply.headers['retry-after'], reply.json]).toMatchObject([
      503,
      '30',
      { status: 'error', error: { code: 1089 } },
    ])
    expect((await post(port, envelope('echo', { text: 'x' }, { session }))).status).toBe(200)
  })
})
