import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import {
  after,
  all,
  EARLIER,
  endOf,
  failure,
  listen,
  meet,
  methodOf,
  quiet,
  serveWell,
  tool,
  until,
  web,
  type Request,
} from './peer.ts'

const PATIENCE = { timeout: 1000, total: 2000, probe: 1000 } as const

async function linked(url: string, options: object = {}): Promise<Client> {
  const client = await connect(url, { ...PATIENCE, ...options })
  after(() => client.close())
  return client
}

test('C.session-odd a session id with odd characters does not break or inject', async () => {
  const odd = [
    '',
    ' ',
    'a b',
    'a\tb',
    '\u00ff\u00fe',
    'x'.repeat(2000),
    'a"b\\c',
    "';drop--",
    '../../x',
    '%0d%0aX-Evil: 1',
    'a, b',
  ]
  for (const session of odd) {
    const network = await web((request, response) => serveWell(request, response, EARLIER, session))
    const using = async (): Promise<void> => {
      const client = await connect(network.url, PATIENCE)
      await client.call('echo')
      await client.close()
    }
    const end = await endOf(using())
    expect([session, ['fine', 'connect_failed'].includes(end)]).toEqual([session, true])
    for (const { headers } of network.requests) {
      expect(headers['x-evil']).toBeUndefined()
      expect([undefined, session.trim()]).toContain(headers['mcp-session-id'])
    }
  }
})

test('C.session-odd a header with a line break inside is refused', async () => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: EARLIER, capabilities: {}, serverInfo: { name: 'x', version: '1' } },
  })
  for (const value of ['a\rX-Evil: 1', 'a\u0000b', 'a\n b']) {
    const port = await listen(
      createServer((socket) => {
        socket.once('data', () =>
          socket.end(
            `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: ${value}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          ),
        )
      }),
    )
    const error = await failure(connect(`http://127.0.0.1:${port}/mcp`, { ...PATIENCE, revision: EARLIER }))
    expect(error).toMatchObject({ name: 'McpError' })
  }
})

test('C.404-loop a server that forgets every session does not cause an endless loop', async () => {
  let session = 0
  const network = await web((request, response) => {
    const method = methodOf(request)
    if (request.verb === 'GET' || method === 'tools/call' || method === 'tools/list')
      return response.writeHead(404).end()
    return serveWell(request, response, EARLIER, `s${session++}`)
  })
  const client = await linked(network.url, { revision: EARLIER })
  const before = network.requests.length
  const error = await failure(client.call('echo'))
  expect(error).toMatchObject({ kind: 'session_lost' })
  expect(network.requests.length - before).toBeLessThan(10)
  await failure(all(client.tools()))
  await quiet(300)
  expect(network.requests.length - before).toBeLessThan(25)
})

test('C.404-loop one that forgets sessions under a watcher is not asked again and again', async () => {
  let session = 0
  let forgets = false
  const network = await web((request, response) => {
    const asksTwo = methodOf(request) === 'resources/subscribe' && request.body.includes('note://two')
    if (forgets && (asksTwo || methodOf(request) === 'ping')) return response.writeHead(404).end()
    return serveWell(request, response, EARLIER, `s${session++}`)
  })
  const client = await linked(network.url, { revision: EARLIER })
  const opened = (): number => network.requests.filter((request) => methodOf(request) === 'initialize').length
  client
    .watch({ resources: ['note://one', 'note://two'] })
    .next()
    .catch(() => undefined)
  await until(() => network.requests.some(({ body }) => body.includes('note://two')))
  forgets = true
  await failure(client.ping())
  await quiet(1500)
  expect(opened()).toBeLessThan(20)
})

test('C.404-loop a session that is lost whenever its stream opens is not asked again and again', async () => {
  let session = 0
  const network = await web((request, response) => {
    if (request.verb === 'GET')
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
    if (methodOf(request) === 'ping') return response.writeHead(404).end()
    return serveWell(request, response, EARLIER, `s${session++}`)
  })
  const client = await linked(network.url, { revision: EARLIER })
  const watching = client.watch({ resources: ['note://one'] }).next()
  watching.catch(() => undefined)
  for (let times = 0; times < 5; times++) await failure(client.ping())
  await quiet(500)
  const before = network.requests.length
  await quiet(1000)
  expect(network.requests.length - before).toBeLessThan(25)
})

test('C.503-loop 503 with Retry-After 0 does not cause a retry storm', async () => {
  for (const status of [503, 429, 500, 502]) {
    const network = await web((_, response) => response.writeHead(status, { 'retry-after': '0' }).end())
    expect(await failure(connect(network.url, PATIENCE))).toMatchObject({ kind: 'http_failed' })
    expect(network.requests.length).toBeLessThan(4)
  }
})

test('C.503-loop a server that becomes busy is not stormed', async () => {
  for (const speaks of ['2026-07-28', EARLIER] as const) {
    let busy = false
    const network = await web((request, response) =>
      busy
        ? response.writeHead(503, { 'retry-after': '0' }).end()
        : serveWell(request, response, speaks, 'one'),
    )
    const client = await linked(network.url)
    await client.ping()
    busy = true
    const before = network.requests.length
    const begun = performance.now()
    const watching = client.watch({ tools: true, resources: ['note://one'] }).next()
    watching.catch(() => undefined)
    for (let times = 0; times < 3; times++)
      expect(await failure(client.read('note://one'))).toMatchObject({ kind: 'http_failed' })
    await quiet(700)
    // Five tries for each read, with growing pauses, and somebody who watches.
    const seconds = (performance.now() - begun) / 1000
    expect(seconds).toBeGreaterThan(4.5)
    expect(network.requests.length - before).toBeLessThan(15 + 3 * seconds)
    await client.close()
  }
})

test('C.get-storm a GET stream that closes at once with retry: 0 does not cause a reconnect storm', async () => {
  const network = await web((request, response) => {
    if (request.verb !== 'GET') return serveWell(request, response, EARLIER, 'one')
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
  })
  const client = await linked(network.url, { revision: EARLIER })
  await quiet(1500)
  expect(network.requests.filter(({ verb }) => verb === 'GET').length).toBeLessThan(8)
  expect(await client.call('echo')).toBe('{}')
})

test('C.get-storm a listen stream and a POST stream that close at once do not either', async () => {
  const network = await web((request, response) => {
    const method = methodOf(request)
    if (method !== 'subscriptions/listen') return serveWell(request, response, '2026-07-28')
    return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\n\n')
  })
  const client = await linked(network.url)
  client
    .watch({ tools: true })
    .next()
    .catch(() => undefined)
  await quiet(1500)
  expect(
    network.requests.filter((request) => methodOf(request) === 'subscriptions/listen').length,
  ).toBeLessThan(6)

  let events = 0
  const resumed = await web((request, response) => {
    if (request.verb !== 'GET' && methodOf(request) !== 'tools/call')
      return serveWell(request, response, EARLIER, 'one')
    return response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: ${events++}\nretry: 0\ndata:\n\n`)
  })
  const other = await linked(resumed.url, { revision: EARLIER })
  const error = await failure(other.call('echo'))
  expect(['timeout', 'stream_lost']).toContain(error.kind)
  expect(resumed.requests.filter(({ verb }) => verb === 'GET').length).toBeLessThan(20)
})

test('C.redirect a redirect to another origin is not followed with the request', async () => {
  const canary = await web((request, response) => serveWell(request, response, '2026-07-28'))
  for (const status of [301, 302, 303, 307, 308]) {
    const network = await web((_, response) =>
      response.writeHead(status, { location: `${canary.url}?token=secret` }).end(),
    )
    const error = await failure(
      connect(network.url, { ...PATIENCE, headers: { authorization: 'Bearer secret' } }),
    )
    expect(error).toMatchObject({ kind: 'http_failed' })
    expect(error.message).not.toContain('secret')
  }
  expect(canary.requests).toEqual([])
})

test('C.redirect one that comes later, for a call, a stream or the end of the session, is not followed either', async () => {
  const canary = await web((request, response) => serveWell(request, response, EARLIER))
  const moved = (request: Request): boolean => request.verb !== 'POST' || methodOf(request) === 'tools/call'
  const network = await web((request, response) =>
    moved(request)
      ? response.writeHead(307, { location: canary.url }).end()
      : serveWell(request, response, EARLIER, 'one'),
  )
  const client = await connect(network.url, {
    ...PATIENCE,
    revision: EARLIER,
    headers: { authorization: 'Bearer secret' },
  })
  expect(await failure(client.call('echo'))).toMatchObject({ kind: 'http_failed' })
  await client.close()
  await quiet(100)
  expect(canary.requests).toEqual([])
})

test('C.redirect-meta a redirect to a link-local address fails cleanly', async () => {
  for (const location of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[fe80::1]/',
    'http://metadata.google.internal/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:1/',
    'javascript:alert(1)',
    'data:application/json,{}',
    'http://',
    '//169.254.169.254/x',
    '\\\\169.254.169.254\\x',
    'http://0x7f.1:1/',
  ]) {
    const network = await web((_, response) => response.writeHead(307, { location }).end())
    const error = await failure(connect(network.url, PATIENCE))
    expect([location, error.kind]).toEqual([location, 'http_failed'])
    expect(network.requests.length).toBeLessThan(4)
  }
})

test('C.redirect a redirect that turns in circles within the origin ends', async () => {
  const network = await web(({ path }, response) => response.writeHead(307, { location: `${path}x` }).end())
  expect(await failure(connect(network.url, PATIENCE))).toMatchObject({ kind: 'http_failed' })
  expect(network.requests.length).toBeLessThan(6)
})

test('C.xheader x-mcp-header names and values with CR LF never reach the wire', async () => {
  const marked = (mark: unknown): object => ({
    type: 'object',
    properties: { v: { type: 'string', 'x-mcp-header': mark } },
  })
  const names = ['Good', 'a\r\nX-Evil: 1', 'a b', '', 'ä', 7, null, { a: 1 }, 'a:b', 'x'.repeat(100) + '\n']
  const network = await web((request, response) => {
    if (methodOf(request) !== 'tools/list') return serveWell(request, response, '2026-07-28')
    const { id } = JSON.parse(request.body) as { id: number }
    const tools = [
      ...names.map((mark, index) => tool(`t${index}`, { inputSchema: marked(mark) as never })),
      tool('twice', {
        inputSchema: {
          type: 'object',
          properties: {
            a: { type: 'string', 'x-mcp-header': 'Same' },
            b: { type: 'string', 'x-mcp-header': 'same' },
          },
        },
      }),
    ]
    const result = { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' }
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const client = await linked(network.url)
  const warnings: string[] = []
  client.on('warning', (words) => warnings.push(words))
  expect((await all(client.tools())).map(({ name }) => name)).toEqual(['t0'])
  expect(warnings).toEqual([expect.stringContaining(`, and ${names.length - 1} more`)])
  const evil = [
    'a\r\nX-Evil: 1',
    'a\nX-Evil: 1',
    '\u0000',
    'ü\r\n\r\nPOST /evil HTTP/1.1',
    ' lead',
    '=?base64?eA==?=',
    'x'.repeat(5000),
  ]
  for (const v of evil)
    for (const name of ['t0', 't1', `tool\r\nX-Evil: 1`])
      expect(await client.call(name, { v })).toBe(JSON.stringify({ v }))
  for (const { headers, raw } of network.requests) {
    expect(headers['x-evil']).toBeUndefined()
    expect(raw.every((part) => /^[\x20-\x7e]*$/.test(part))).toBe(true)
    expect(
      Object.keys(headers).filter((name) => name.startsWith('mcp-param-') && name !== 'mcp-param-good'),
    ).toEqual([])
  }
})

test('C.xheader arguments cannot take the place of headers that say who we are', async () => {
  const marks = ['Authorization', 'Cookie', 'Mcp-Session-Id', 'Host', 'Content-Length']
  const properties = Object.fromEntries(marks.map((mark) => [mark, { type: 'string', 'x-mcp-header': mark }]))
  const { client } = await meet('http', ({ method }, wire) =>
    method === 'tools/list'
      ? wire.reply({ tools: [tool('t', { inputSchema: { type: 'object', properties } })] })
      : false,
  )
  await all(client.tools())
  expect(await client.call('t', Object.fromEntries(marks.map((mark) => [mark, 'evil'])))).toContain('evil')
})

test('C.get-storm a server program that dies after every answer is not started again and again', async () => {
  let lives = true
  const { client, count } = await meet(
    'stdio',
    ({ method }, wire) => {
      if (lives || method !== 'resources/subscribe') return false
      wire.reply({})
      return wire.leave()
    },
    { speaks: EARLIER, revision: EARLIER },
  )
  client
    .watch({ resources: ['note://one'] })
    .next()
    .catch(() => undefined)
  await until(() => count('resources/subscribe') > 0)
  lives = false
  await client.request('resources/subscribe', { uri: 'note://one' })
  await quiet(1500)
  expect(count('initialize')).toBeLessThan(12)
})
