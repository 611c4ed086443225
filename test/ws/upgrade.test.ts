import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { BOTH, headed, initialize, message } from '../http/messages.ts'
import { Gate, tools } from '../http/server.ts'
import { Raw as HttpRaw, send } from '../http/wire.ts'
import { frame, handshake, Raw } from './raw.ts'
import { open, start } from './server.ts'

async function asked(
  port: number,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<Raw & { status: number }> {
  const raw = new Raw(port)
  return Object.assign(raw, { status: await raw.ask(handshake(port, headers)) })
}

test('WebSocket is on the port and path of HTTP, and speaks JSON in text frames both ways [S2-10.5-1] [S1-1.2-3]', async () => {
  const app = tools()
  const { port, url, running } = await start(app)
  expect(url).toBe(running.url?.replace('http', 'ws'))
  const raw = await open(port)
  raw.write(frame(initialize()))
  await raw.until(() => raw.texts.length === 1)
  expect(JSON.parse(raw.texts[0] as string)).toMatchObject({
    id: 1,
    result: { protocolVersion: '2025-11-25' },
  })
  expect(raw.frames[0]).toMatchObject({ fin: true, masked: false })
  // The connection stays, and the server speaks on it by itself.
  raw.write(frame(message('notifications/initialized')))
  raw.write(frame(message('ping', {}, 2)))
  await raw.until(() => raw.texts.length === 2)
  app.tool('later', {}, () => 'x')
  await raw.until(() => raw.texts.length === 3)
  expect(raw.texts.slice(1).map((text) => JSON.parse(text))).toMatchObject([
    { id: 2, result: {} },
    { method: 'notifications/tools/list_changed' },
  ])
  expect((await send(port, { body: initialize(), headers: BOTH })).status).toBe(200)
})

test('WebSocket has a port of its own where one is named, and a path of its own where that is [S2-10.5-1]', async () => {
  const { port, running } = await start(tools(), { http: { port: 0 }, ws: { port: 0, path: '/socket' } })
  expect(running.addresses.ws).toBe(`ws://127.0.0.1:${port}/socket`)
  expect(running.addresses.http).not.toContain(String(port))
  const raw = new Raw(port)
  expect(await raw.ask(handshake(port).replace('/mcp', '/socket?a=b'))).toBe(101)
  const lost = new Raw(port)
  expect(await lost.ask(handshake(port))).toBe(404)
})

test('WebSocket may have another path than HTTP on the same port', async () => {
  const { port, url } = await start(tools(), { http: { port: 0 }, ws: { path: '/socket' } })
  expect(url).toBe(`ws://127.0.0.1:${port}/socket`)
  const raw = new Raw(port)
  expect(await raw.ask(handshake(port).replace('/mcp', '/socket'))).toBe(101)
})

test('a plain request to a WebSocket-only port gets 426 [W.plain-get]', async () => {
  const { port } = await start(tools(), { ws: { port: 0 } })
  const reply = await send(port, { method: 'GET' })
  expect([reply.status, reply.headers['upgrade']]).toEqual([426, 'websocket'])
  expect((await send(port, { body: initialize() })).status).toBe(426)
})

test('a plain GET on the shared port is what it is without WebSocket [W.plain-get]', async () => {
  const { port } = await start(tools())
  expect((await send(port, { method: 'GET', headers: { accept: 'text/event-stream' } })).status).toBe(400)
})

describe('web pages and foreign names are kept out by the guard of HTTP', () => {
  test.each([
    ['W.origin', 'https://evil.example'],
    ['W.origin-null', 'null'],
    ['W.origin-suffix', 'http://127.0.0.1.evil.example'],
    ['W.origin-userinfo', 'http://127.0.0.1@evil.example'],
    ['W.origin-junk', '::::'],
  ])('%s: the Origin %s gets 403 [S3-8-4]', async (_id, origin) => {
    const { port } = await start(tools())
    const raw = await asked(port, { origin })
    expect(raw.status).toBe(403)
    await raw.closed
    expect(JSON.parse(raw.body)).toMatchObject({ error: { code: -32600 } })
  })

  test('a page of this machine, and one that was named, may connect [W.origin-own]', async () => {
    const { port } = await start(tools(), { http: { port: 0, cors: ['https://ide.example'] }, ws: true })
    expect((await asked(port, { origin: `http://127.0.0.1:${port}` })).status).toBe(101)
    expect((await asked(port, { origin: 'https://ide.example' })).status).toBe(101)
  })

  test.each(['evil.example', '127.0.0.1.evil.example', '', '0.0.0.0'])(
    'the Host %j gets 403 [W.host]',
    async (host) => {
      const { port } = await start(tools())
      expect((await asked(port, { host })).status).toBe(403)
    },
  )

  test('two Host headers count as none [W.host]', async () => {
    const { port } = await start(tools())
    const raw = new Raw(port)
    const twice = handshake(port).replace('\r\n', `\r\nhost: 127.0.0.1:${port}\r\n`)
    expect([400, 403]).toContain(await raw.ask(twice))
  })

  test('a port of its own has hosts and origins of its own', async () => {
    const { port } = await start(tools(), {
      ws: { port: 0, hosts: ['mcp.example'], cors: ['https://a.example'] },
    })
    expect((await asked(port, {})).status).toBe(403)
    expect((await asked(port, { host: 'mcp.example', origin: 'https://b.example' })).status).toBe(403)
    expect((await asked(port, { host: 'mcp.example', origin: 'https://a.example' })).status).toBe(101)
  })
})

describe('requests that cannot become a WebSocket are refused', () => {
  test.each([
    ['W.version', { 'sec-websocket-version': '7' }],
    ['W.version', { 'sec-websocket-version': undefined }],
    ['W.key', { 'sec-websocket-key': undefined }],
    ['W.key', { 'sec-websocket-key': 'dG9vIHNob3J0' }],
  ])('%s: %j gets 400', async (_id, headers) => {
    const { port } = await start(tools())
    const raw = await asked(port, headers)
    expect(raw.status).toBe(400)
    await raw.closed
    expect(raw.head).toMatch(/sec-websocket-version: 13/i)
    expect(JSON.parse(raw.body)).toMatchObject({ error: { code: -32600 } })
  })

  test('too many headers get 431', async () => {
    const { port } = await start(tools())
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`x-${at}`, 'y']))
    expect((await asked(port, many)).status).toBe(431)
  })
})

describe('the sub-protocols mcp and mcp.v1 [S2-10.5-2]', () => {
  test.each([
    ['mcp', 'mcp'],
    ['mcp.v1', 'mcp.v1'],
    ['mcp.v1, mcp', 'mcp'],
    ['mcp, mcp.v1', 'mcp'],
    ['chat, mcp', 'mcp'],
    ['chat, mcp.v1', 'mcp.v1'],
  ])('of the offers %s, %s is chosen', async (offered, chosen) => {
    const { port } = await start(tools())
    const raw = await asked(port, { 'sec-websocket-protocol': offered })
    expect(raw.status).toBe(101)
    expect(/sec-websocket-protocol: (\S+)/i.exec(raw.head)?.[1]).toBe(chosen)
  })

  test('a client need not offer any, but may not offer only others', async () => {
    const { port } = await start(tools())
    const none = await asked(port, {})
    expect(none.status).toBe(101)
    expect(none.head).not.toMatch(/sec-websocket-protocol/i)
    expect((await asked(port, { 'sec-websocket-protocol': 'chat, soap' })).status).toBe(400)
  })
})

test('W.upgrade a request that would rather be HTTP/2 is served as what it is', async () => {
  const { port } = await start(tools())
  const headers = {
    ...BOTH,
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQ',
  }
  for (let round = 0; round < 2; round++) {
    const reply = await send(port, { body: initialize(), headers })
    expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('protocolVersion')])
  }
})

test('compression is offered in vain', async () => {
  const { port } = await start(tools())
  const raw = await asked(port, { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' })
  expect(raw.status).toBe(101)
  expect(raw.head).not.toMatch(/sec-websocket-extensions/i)
})

test.each([
  [{ ws: { port: -1 } }, /port must be a whole number .*, not -1/],
  [{ ws: { host: '0.0.0.0' } }, /name the hosts/],
  [{ ws: { prot: 1 } }, /did you mean "port"/],
  [{ http: { port: 0 }, ws: { cors: ['https://a.example'] } }, /"cors" is an option of http/],
  [{ http: { port: 0 }, ws: { path: 'socket' } }, /must begin with \//],
])('options that make no sense are refused: %j', async (options, why) => {
  await expect(tools().listen(options as object)).rejects.toThrow(why)
})

describe('a request for an upgrade on a connection with others', () => {
  const post = (body: string, more = ''): string => {
    const lines = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Accept: application/json',
    ]
    return `${lines.join('\r\n')}\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const upgrading = (id: number): string =>
    post(headed('tools/call', { name: 'echo', arguments: { text: `echo ${id}` } }, id).body, H2C)
  const H2C =
    'Connection: Upgrade\r\nUpgrade: h2c\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n'
  const WAIT = 'MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\n'
  const idsIn = (text: string): string[] => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id as string)

  /** Sees the server's end of the connection with every request. */
  const onRequest = (see: (socket: Socket) => void): void => {
    const listener = (message: unknown): void => see((message as { readonly socket: Socket }).socket)
    subscribe('http.server.request.start', listener)
    onTestFinished(() => void unsubscribe('http.server.request.start', listener))
  }

  test('is answered after those before it on the connection, and before those after it', async () => {
    const gates = [new Gate(), new Gate()] as const
    let begun = 0
    const app = tools().tool('wait', {}, async () => {
      const gate = gates[begun++] as Gate
      gate.enter()
      await gate.opened
      return 'waited'
    })
    const { port } = await start(app)
    const raw = new HttpRaw(port)
    const waits = [1, 2].map((id) => post(headed('tools/call', { name: 'wait' }, id).body, WAIT))
    raw.write(`${waits.join('')}${upgrading(3)}${upgrading(4)}`)
    await Promise.all(gates.map(({ entered }) => entered))
    gates[1].open()
    gates[0].open()
    await raw.until(/"id":4/)
    expect(idsIn(raw.text)).toEqual(['1', '2', '3', '4'])
    raw.destroy()
  })

  test.each([
    ['a WebSocket', '/mcp', 101],
    ['a WebSocket at a wrong path', '/nowhere', 404],
  ] as const)('W.pipelined %s is answered after those before it, too', async (_, path, status) => {
    const gates = [new Gate(), new Gate()] as const
    let begun = 0
    const app = tools().tool('wait', {}, async () => {
      const gate = gates[begun++] as Gate
      gate.enter()
      await gate.opened
      return 'waited'
    })
    const { port } = await start(app)
    const raw = new HttpRaw(port)
    const waits = [1, 2].map((id) => post(headed('tools/call', { name: 'wait' }, id).body, WAIT))
    raw.write(`${waits.join('')}${handshake(port).replace('/mcp', path)}`)
    await Promise.all(gates.map(({ entered }) => entered))
    // The server would have answered the upgrade before it serves the next connection.
    expect((await send(port, { body: initialize(), headers: BOTH })).status).toBe(200)
    expect(raw.text).toBe('')
    for (const gate of gates) gate.open()
    await raw.until(new RegExp(`HTTP/1.1 ${status} `))
    expect([...raw.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => Number(found))).toEqual([
      200,
      200,
      status,
    ])
    expect(idsIn(raw.text).slice(0, 2)).toEqual(['1', '2'])
    raw.destroy()
  })

  test.each<readonly [string, (socket: Socket) => unknown]>([
    ['with a reset', (socket) => socket.resetAndDestroy()],
    ['with an end', (socket) => socket.destroy()],
  ])('may leave while it waits for those before it, which are cancelled: %s', async (_, leave) => {
    const cancelled = new Gate()
    const gate = new Gate()
    const sockets: Socket[] = []
    onRequest((socket) => void sockets.push(socket))
    const app = tools().tool('wait', {}, async (__, { signal }) => {
      signal.addEventListener('abort', () => cancelled.enter())
      gate.enter()
      await cancelled.entered
      return 'waited'
    })
    const { port } = await start(app)
    const raw = new HttpRaw(port)
    raw.write(`${post(headed('tools/call', { name: 'wait' }, 1).body, WAIT)}${upgrading(2)}`)
    await gate.entered
    const closed = new Promise((resolve) => sockets[0]?.once('close', resolve))
    leave(raw.socket)
    await Promise.all([closed, cancelled.entered])
    expect((await send(port, { body: initialize(), headers: BOTH })).status).toBe(200)
  })

  test('may come with much behind it', async () => {
    const gate = new Gate()
    const app = tools().tool('wait', {}, async () => {
      gate.enter()
      await gate.opened
      return 'waited'
    })
    const { port } = await start(app)
    const raw = new HttpRaw(port)
    raw.write(`${post(headed('tools/call', { name: 'wait' }, 1).body, WAIT)}${upgrading(2)}`)
    await gate.entered
    const ids = Array.from({ length: 500 }, (_, at) => at + 3)
    raw.write(ids.map(upgrading).join(''))
    gate.open()
    await raw.until(/"id":502\b/)
    expect(idsIn(raw.text)).toEqual(['1', '2', ...ids.map(String)])
    raw.destroy()
  })

  test('W.pipelined gives others a turn, and what is behind it is not copied again and again', async () => {
    let inTurn = 0
    let most = 0
    onRequest(() => {
      most = Math.max(most, ++inTurn)
      setImmediate(() => (inTurn = 0))
    })
    const concat = vi.spyOn(Buffer, 'concat')
    onTestFinished(() => concat.mockRestore())
    const { port } = await start(tools())
    const raw = new HttpRaw(port)
    const ids = Array.from({ length: 300 }, (_, at) => at + 1)
    const text = ids.map(upgrading).join('')
    raw.write(text)
    await raw.until(/"id":300\b/)
    expect(idsIn(raw.text)).toEqual(ids.map(String))
    expect(most).toBeLessThan(5)
    const copied = concat.mock.results.reduce((sum, { value }) => sum + (value as Buffer).length, 0)
    expect(copied).toBeLessThan(2 * text.length)
    raw.destroy()
  })

  test.each<readonly [string, (socket: Socket) => unknown]>([
    ['with a reset', (socket) => socket.resetAndDestroy()],
    ['with an end', (socket) => socket.destroy()],
  ])('may leave while others have their turn: %s', async (_, leave) => {
    const { port } = await start(tools())
    const raw = new HttpRaw(port)
    raw.write(Array.from({ length: 300 }, (__, at) => upgrading(at + 1)).join(''))
    await raw.until(/"id":3\b/)
    leave(raw.socket)
    expect((await send(port, { body: initialize(), headers: BOTH })).status).toBe(200)
  })

  test('may have a long body', async () => {
    const { port } = await start(tools())
    const raw = new HttpRaw(port)
    const text = 'x'.repeat(1_000_000)
    for (let id = 1; id < 4; id++) {
      raw.write(post(headed('tools/call', { name: 'echo', arguments: { text } }, id).body, H2C))
      await raw.until(new RegExp(`"id":${id}\\b`))
    }
    expect(idsIn(raw.text)).toEqual(['1', '2', '3'])
    expect(raw.text.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
    raw.destroy()
  })

  test('leaves nothing behind on the connection', async () => {
    const counts: number[] = []
    onRequest((socket) => {
      counts.push(socket.eventNames().reduce((sum, event) => sum + socket.listenerCount(event), 0))
    })
    const { port } = await start(tools())
    const raw = new HttpRaw(port)
    for (let id = 1; id <= 12; id++) await raw.write(upgrading(id)).until(new RegExp(`"id":${id}\\b`))
    expect(idsIn(raw.text)).toHaveLength(12)
    expect(new Set(counts.slice(1)).size).toBe(1)
    raw.destroy()
  })
})
