import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serviceOf } from '../../src/app/app.ts'
import { call, ENVELOPE, initialize, JSON_TYPE, message } from '../http/messages.ts'
import { begin, send } from '../http/wire.ts'
import { EVENTS, open, start, tools, type OldClient } from './server.ts'

describe('the stream', () => {
  test('starts with the address for messages, and carries every response as a message event [R099] [S2-10.4-2] [S1-1.2-2]', async () => {
    const { port } = await start()
    const client = await open(port)
    expect(client.stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    })
    expect(client.stream.raw).toMatch(/^event: endpoint\ndata: \/messages\?sessionId=[0-9a-f-]{36}\n\n$/)
    const posted = await client.post(initialize('2024-11-05'))
    expect([posted.status, posted.text]).toEqual([202, 'Accepted'])
    expect(await client.answer(1)).toMatchObject({ result: { protocolVersion: '2024-11-05' } })
    expect(client.stream.raw).toContain('\nevent: message\ndata: {"jsonrpc":"2.0","id":1,')
  })

  test('supports every revision with a handshake, and rejects the one without', async () => {
    const { port } = await start()
    const client = await open(port)
    await client.post(message('tools/list', { _meta: ENVELOPE }, 7))
    expect(await client.answer(7)).toMatchObject({
      error: { code: -32022, data: { supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] } },
    })
    await client.post(initialize('2026-07-28'))
    expect(await client.answer(1)).toMatchObject({ result: { protocolVersion: '2025-11-25' } })
  })

  test('sends errors for unreadable messages on the stream, and continues', async () => {
    const { port } = await start()
    const client = await open(port)
    expect((await client.post('{"jsonrpc":')).status).toBe(202)
    await client.stream.until(() => client.messages.length === 1)
    expect(client.messages[0]).toMatchObject({ error: { code: -32700 } })
    await client.shake()
  })

  test('is not served unless enabled, while Streamable HTTP is [S1-1.2-2]', async () => {
    const { port } = await start(tools(), { sse: false })
    expect((await send(port, { method: 'GET', path: '/sse', headers: EVENTS })).status).toBe(404)
    expect((await send(port, { path: '/messages', headers: JSON_TYPE, body: '{}' })).status).toBe(404)
    const newer = await send(port, { headers: { ...JSON_TYPE, accept: '*/*' }, body: initialize() })
    expect(newer.json).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } })
  })

  test('does not share its paths with another endpoint', async () => {
    await expect(start(tools(), { path: '/sse' })).rejects.toThrow(/belongs to the option sse/)
  })
})

describe('the head of a request', () => {
  test('a method that a path does not support is rejected with those it does', async () => {
    const { port } = await start()
    const wrong = await send(port, { path: '/sse', headers: JSON_TYPE, body: initialize() })
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, OPTIONS'])
    const other = await send(port, { method: 'GET', path: '/messages', headers: EVENTS })
    expect([other.status, other.headers.allow]).toEqual([405, 'POST, OPTIONS'])
  })

  test('a client that does not accept events is rejected, and so is a body that is not JSON', async () => {
    const { port } = await start()
    const plain = { accept: 'application/json' }
    expect((await send(port, { method: 'GET', path: '/sse', headers: plain })).status).toBe(406)
    const client = await open(port)
    expect((await client.post(initialize(), { 'content-type': 'text/plain' })).status).toBe(415)
  })

  test.each(['GET', 'POST', 'OPTIONS'])(
    'H.host-* H.origin-* %s under a foreign name or from a foreign page is refused [R070] [R071] [S3-8-4]',
    async (method) => {
      const { port } = await start()
      const client = await open(port)
      const path = method === 'GET' ? '/sse' : client.path
      const usual = method === 'GET' ? EVENTS : JSON_TYPE
      for (const foreign of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
        const reply = await send(port, { method, path, headers: { ...usual, ...foreign } })
        expect(reply.status).toBe(403)
      }
      expect(client.messages).toEqual([])
    },
  )

  test('an allowed page gets CORS headers in the preflight and in the reply', async () => {
    const { port } = await start(tools(), { cors: ['https://app.example'] })
    const origin = { origin: 'https://app.example' }
    const client = await open(port, '/sse', origin)
    const allowed = { 'access-control-allow-origin': 'https://app.example' }
    expect(client.stream.response.headers).toMatchObject(allowed)
    expect((await client.post(initialize(), origin)).headers).toMatchObject(allowed)
    const asked = await send(port, { method: 'OPTIONS', path: client.path, headers: origin })
    expect([asked.status, asked.headers]).toMatchObject([204, allowed])
  })
})

describe('a session', () => {
  test.each(['', '?sessionId=', '?sessionId=1', '?sessionId=__proto__', '?session=x'])(
    'is not found under /messages%s',
    async (query) => {
      const { port } = await start()
      await open(port)
      const reply = await send(port, { path: `/messages${query}`, headers: JSON_TYPE, body: initialize() })
      expect([reply.status, reply.json]).toMatchObject([404, { error: { code: -32001 } }])
    },
  )

  test('has an id that cannot be guessed, and ends with its stream', async () => {
    const { port, app } = await start()
    const clients = await Promise.all(Array.from({ length: 20 }, () => open(port)))
    expect(new Set(clients.map(({ path }) => path)).size).toBe(20)
    const [first, second] = clients as [OldClient, OldClient]
    await first.shake()
    first.stream.drop()
    await expect.poll(async () => (await first.post(message('ping', {}, 5))).status).toBe(404)
    await second.shake()
    expect(serviceOf(app).changes.listeners).toBeLessThanOrEqual(1)
  })

  test('belongs to the caller that opened it', async () => {
    const app = tools()
    const serve = app.node({ sse: true })
    const web = express()
    web.use((request, _response, next) => {
      const sub = request.header('x-user')
      next(void Object.assign(request, sub === undefined ? {} : { auth: { sub } }))
    })
    web.use(serve)
    const port = await listen(createHttp(web))
    onTestFinished(() => app.close())
    const client = await open(port, '/sse', { 'x-user': 'ann' })
    expect((await client.post(initialize(), { 'x-user': 'bob' })).status).toBe(404)
    expect((await client.post(initialize())).status).toBe(404)
    expect((await client.post(initialize(), { 'x-user': 'ann' })).status).toBe(202)
    expect(await client.answer(1)).toMatchObject({ result: {} })
  })

  test('is used with the rights of each message, not with those of the stream', async () => {
    const app = tools().tool('rights', {}, (_, { auth }) => JSON.stringify(auth?.scopes ?? []))
    const serve = app.node({ sse: true })
    const web = express()
    web.use((request, _response, next) => {
      const scopes = [request.header('x-scope')]
      next(void Object.assign(request, { auth: { sub: 'ann', scopes } }))
    })
    web.use(serve)
    const port = await listen(createHttp(web))
    onTestFinished(() => app.close())
    const client = await open(port, '/sse', { 'x-scope': 'all' })
    await client.shake()
    await client.post(call('rights', {}, 2), { 'x-scope': 'few' })
    expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: '["few"]' }] } })
  })

  test('is notified of changes without a request [S1-1.2-2]', async () => {
    const { port, app } = await start()
    const client = await (await open(port)).shake()
    app.tool('late', {}, () => 'late')
    await client.stream.until(() => client.messages.length === 2)
    expect(client.messages[1]).toMatchObject({ method: 'notifications/tools/list_changed' })
  })

  test('serves several calls at once, and none sees the messages of another client', async () => {
    const { port } = await start()
    const clients = await Promise.all([open(port), open(port), open(port)])
    await Promise.all(clients.map((client) => client.shake()))
    await Promise.all(
      clients.flatMap((client, at) =>
        [2, 3, 4, 5].map((id) => client.post(call('echo', { text: `${at} ${id}` }, id))),
      ),
    )
    for (const [at, client] of clients.entries()) {
      for (const id of [2, 3, 4, 5])
        expect(await client.answer(id)).toMatchObject({ result: { content: [{ text: `${at} ${id}` }] } })
      expect(client.messages).toHaveLength(5)
    }
  })
})

describe('a mount', () => {
  test('serves all three paths below its own, with a body that was already parsed', async () => {
    const app = tools()
    const web = express()
    web.use(express.json())
    web.use('/api', app.node({ sse: true }))
    const port = await listen(createHttp(web))
    onTestFinished(() => app.close())
    const client = await open(port, '/api/sse')
    expect(client.path).toMatch(/^\/api\/messages\?sessionId=/)
    await client.shake()
    const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`
    expect((await client.post(deep)).status).toBe(400)
    const newer = await send(port, {
      path: '/api/mcp',
      headers: { ...JSON_TYPE, accept: '*/*' },
      body: initialize(),
    })
    expect(newer.json).toMatchObject({ result: {} })
  })

  test('never names another server, however the path is written', async () => {
    const app = tools()
    const port = await listen(createHttp(app.node({ sse: true })))
    onTestFinished(() => app.close())
    for (const path of ['//evil.example/sse', '/\\evil.example/sse']) {
      const client = await open(port, path)
      const base = `http://127.0.0.1:${port}`
      expect(new URL(client.path, base).origin).toBe(base)
    }
  })

  test('of a web handler streams, and closes with its reader', async () => {
    const app = tools()
    const serve = app.fetchWith({ sse: true })
    const response = await serve(new Request('http://127.0.0.1/sse', { headers: EVENTS }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value)
    const path = /data: (.*)\n/.exec(await read())?.[1] as string
    const post = (): Promise<Response> =>
      serve(
        new Request(`http://127.0.0.1${path}`, { method: 'POST', headers: JSON_TYPE, body: initialize() }),
      )
    expect((await post()).status).toBe(202)
    expect(await read()).toContain('"protocolVersion":"2025-11-25"')
    await reader.cancel()
    expect((await post()).status).toBe(404)
  })
})

test('a message for an unknown session is rejected before its body is read', async () => {
  const { port } = await start()
  const reply = await begin(port, {
    path: '/messages?sessionId=x',
    headers: { ...JSON_TYPE, 'content-length': String(1 << 30), expect: '100-continue' },
  })
  expect(reply.statusCode).toBe(404)
  reply.destroy()
})

async function listen(server: ReturnType<typeof createHttp>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
