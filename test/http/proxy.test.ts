import {
  createServer as createHttp,
  request as httpRequest,
  type IncomingMessage,
  type Server,
} from 'node:http'
import { connect as connectNet, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import type { MountOptions } from '../../src/app/options.ts'
import { selfSigned } from '../harness/certificates.ts'
import { headed } from './messages.ts'

/** Addresses of this machine, so that client and proxies differ. */
const [CLIENT, OUTER, INNER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const
const HOST = 'mcp.example'

type Trust = NonNullable<MountOptions['trustProxy']>

/** A server that says what it believes of a request. */
function app(): App {
  return createServer({ name: 'behind', version: '1', log: () => undefined })
    .tool('ip', {}, (_, { ip, header }) => `${ip} ${header('host')}`)
    .use({ endpoints: { '/own': (request) => new Response(request.url) } })
}

async function opened(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The headers that a proxy passes on, with what it says about its caller. It appends to the addresses, and adds the others unless the client has sent them; with `sets`, it replaces those. */
function forwarded(
  incoming: IncomingMessage,
  port: number,
  sets: boolean,
): Record<string, string | string[] | undefined> {
  const { 'x-forwarded-for': before, ...headers } = incoming.headers
  const from = incoming.socket.remoteAddress as string
  const own = { 'x-forwarded-host': headers.host, 'x-forwarded-proto': 'https' }
  return {
    ...own,
    ...headers,
    ...(sets ? own : {}),
    host: `127.0.0.1:${port}`,
    'x-forwarded-for': before === undefined ? from : `${String(before)}, ${from}`,
  }
}

/** A reverse proxy that calls the server on a port from its own address, also for WebSocket. */
async function proxy(port: number, address: string = OUTER, sets = false): Promise<number> {
  const server = createHttp((incoming, outgoing) => {
    const { method, url } = incoming
    const headers = forwarded(incoming, port, sets)
    const passed = httpRequest({ port, method, path: url, headers, localAddress: address }, (reply) => {
      outgoing.writeHead(reply.statusCode as number, reply.headers)
      reply.pipe(outgoing)
    })
    incoming.pipe(passed)
  })
  server.on('upgrade', (incoming, socket) => {
    const passed = connectNet({ port, host: '127.0.0.1', localAddress: address }, () => {
      const lines = Object.entries(forwarded(incoming, port, sets)).map(
        ([name, value]) => `${name}: ${String(value)}\r\n`,
      )
      passed.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join('')}\r\n`)
      passed.pipe(socket).pipe(passed)
    })
    for (const one of [socket, passed]) one.on('error', () => undefined)
    onTestFinished(() => void passed.destroy())
  })
  return opened(server)
}

interface Answer {
  readonly status: number
  /** What the tool says, or the text of the reply. */
  readonly text: string
}

/** Sends a request from the address of the client. */
async function ask(
  port: number,
  path: string,
  more: Record<string, string> = {},
  from: string = CLIENT,
): Promise<Answer> {
  const { body, headers } = headed('tools/call', { name: 'ip', arguments: {} })
  const isCall = path === '/mcp'
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      port,
      path,
      method: isCall ? 'POST' : 'GET',
      localAddress: from,
      headers: { ...headers, host: HOST, ...more },
    }
    const sent = httpRequest(options, resolve).on('error', reject)
    sent.end(isCall ? body : undefined)
  })
  const said = await text(reply)
  const { result } = (isCall ? JSON.parse(said) : {}) as { result?: { content: readonly { text: string }[] } }
  return { status: reply.statusCode as number, text: result?.content[0]?.text ?? said }
}

type Serve = (options: MountOptions) => Promise<number>

/** The ways to serve HTTP on Node. */
const SERVERS: Readonly<Record<string, Serve>> = {
  listen: async (options) => {
    const running = await app().listen({ http: { port: 0, ...options } })
    onTestFinished(() => running.close())
    return Number(new URL(running.url as string).port)
  },
  'app.node()': (options) => opened(createHttp(app().node(options))),
}

for (const [name, serve] of Object.entries(SERVERS)) {
  test(`${name} believes no proxy by default`, async () => {
    const port = await proxy(await serve({ hosts: [HOST] }))
    expect((await ask(port, '/mcp')).status).toBe(403)
    const open = await serve({ hosts: ['*'] })
    expect((await ask(await proxy(open), '/mcp')).text).toBe(`${OUTER} 127.0.0.1:${open}`)
    expect((await ask(await proxy(open), '/own')).text).toBe(`http://127.0.0.1:${open}/own`)
  })

  test.each<[string, Trust]>([
    ['one proxy', true],
    ['a number of proxies', 1],
    ['its address', [OUTER]],
    ['a range', ['::1', '127.0.0.3/32']],
  ])(`${name} that trusts %s gets the host, scheme and address of the client`, async (_, trustProxy) => {
    const port = await proxy(await serve({ hosts: [HOST], trustProxy }))
    expect(await ask(port, '/mcp')).toEqual({ status: 200, text: `${CLIENT} ${HOST}` })
    expect((await ask(port, '/own')).text).toBe(`https://${HOST}/own`)
  })

  test(`behind a proxy that sets the headers, ${name} does not see those of the client`, async () => {
    const port = await proxy(await serve({ hosts: [HOST], trustProxy: true }), OUTER, true)
    const more = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    expect(await ask(port, '/mcp', more)).toEqual({ status: 200, text: `${CLIENT} ${HOST}` })
    expect((await ask(port, '/own', more)).text).toBe(`https://${HOST}/own`)
  })

  test(`with trust, ${name} checks the host and the origin that the client used`, async () => {
    const port = await proxy(await serve({ hosts: [HOST], trustProxy: true }))
    const page = (origin: string, more = {}): Promise<Answer> => ask(port, '/mcp', { origin, ...more })
    expect((await page(`https://${HOST}`)).status).toBe(200)
    // The client came over TLS, so that a page that was loaded without it is not the server's.
    expect((await page(`http://${HOST}`)).status).toBe(403)
    expect((await page(`http://${HOST}`, { 'x-forwarded-proto': 'http' })).status).toBe(200)
    expect((await page('https://evil.example')).status).toBe(403)
    expect((await ask(port, '/mcp', { host: 'evil.example' })).status).toBe(403)
    expect((await ask(port, '/mcp', { host: 'evil.example', origin: 'https://evil.example' })).status).toBe(
      403,
    )
  })

  test(`${name} ignores the headers of a caller that is not a trusted proxy`, async () => {
    const port = await serve({ hosts: [HOST], trustProxy: [OUTER, '10.0.0.0/8'] })
    const spoofed = {
      'x-forwarded-for': '10.1.2.3',
      'x-forwarded-host': HOST,
      'x-forwarded-proto': 'https',
    }
    expect((await ask(port, '/mcp', { ...spoofed, host: 'evil.example' })).status).toBe(403)
    expect((await ask(port, '/mcp', { ...spoofed, 'x-forwarded-host': 'evil.example' })).text).toBe(
      `${CLIENT} ${HOST}`,
    )
    expect((await ask(port, '/own', spoofed)).text).toBe(`http://${HOST}/own`)
    expect((await ask(port, '/mcp', spoofed, OUTER)).text).toBe(`10.1.2.3 ${HOST}`)
  })

  test.each<[string, Trust]>([
    ['one proxy', true],
    ['its address', [OUTER, '10.0.0.0/8']],
  ])(`a client of a proxy cannot choose its address where %s is trusted (${name})`, async (_, trustProxy) => {
    const port = await proxy(await serve({ hosts: [HOST], trustProxy }))
    for (const before of ['9.9.9.9', '10.1.1.1, 10.2.2.2', ',,', 'unknown'])
      expect((await ask(port, '/mcp', { 'x-forwarded-for': before })).text).toBe(`${CLIENT} ${HOST}`)
  })

  test.each<[string, Trust, string]>([
    ['both', 2, CLIENT],
    ['both, by their addresses', [OUTER, INNER], CLIENT],
    ['only the inner one', true, OUTER],
    ['only the inner one, by its address', [INNER], OUTER],
    ['more than there are', 5, '9.9.9.9'],
  ])(
    `behind two proxies, of which ${name} trusts %s, the client is %3$s`,
    async (_, trustProxy, expected) => {
      const inner = await proxy(await serve({ hosts: [HOST, '127.0.0.1'], trustProxy }), INNER)
      const outer = await proxy(inner, OUTER)
      expect((await ask(outer, '/mcp', { 'x-forwarded-for': '9.9.9.9' })).text.split(' ')[0]).toBe(expected)
    },
  )

  test(`of several values, ${name} believes the last, which the nearest proxy wrote`, async () => {
    const port = await serve({ hosts: [HOST], trustProxy: true })
    const several = { 'x-forwarded-host': `evil.example, ${HOST}`, 'x-forwarded-proto': 'ftp, https' }
    expect((await ask(port, '/own', { ...several, host: 'inner' })).text).toBe(`https://${HOST}/own`)
    expect((await ask(port, '/own', { 'x-forwarded-host': `${HOST}, evil.example` })).status).toBe(403)
    expect((await ask(port, '/own', { 'x-forwarded-proto': 'javascript' })).text).toBe(`http://${HOST}/own`)
    expect((await ask(port, '/own', { 'x-forwarded-host': `${HOST}/../x` })).status).toBe(403)
    expect((await ask(port, '/own', { 'x-forwarded-host': '' })).text).toBe(`http://${HOST}/own`)
  })
}

test('app.fetchWith believes a proxy, or several, without knowing their address', async () => {
  const { body, headers } = headed('tools/call', { name: 'ip', arguments: {} })
  const said = async (trustProxy?: boolean | number): Promise<string | undefined> => {
    const serve = app().fetchWith({ hosts: ['*'], ...(trustProxy !== undefined && { trustProxy }) })
    const proxied = { 'x-forwarded-for': '9.9.9.9, 10.0.0.1', 'x-forwarded-host': HOST, host: 'inner' }
    const request = new Request('http://inner/mcp', {
      method: 'POST',
      body,
      headers: { ...headers, ...proxied },
    })
    const reply = (await (await serve(request)).json()) as {
      result?: { content: readonly { text: string }[] }
    }
    return reply.result?.content[0]?.text
  }
  expect(await said()).toBe('undefined inner')
  expect(await said(false)).toBe('undefined inner')
  expect(await said(true)).toBe(`10.0.0.1 ${HOST}`)
  expect(await said(2)).toBe(`9.9.9.9 ${HOST}`)
  const own = new Request('http://inner/own', {
    headers: { 'x-forwarded-proto': 'HTTPS', 'x-forwarded-host': HOST },
  })
  expect(await (await app().fetchWith({ trustProxy: true })(own)).text()).toBe(`https://${HOST}/own`)
})

test('a list of addresses makes no sense where no address is known', () => {
  expect(() => app().fetchWith({ trustProxy: ['10.0.0.0/8'] })).toThrow(
    'fetchWith trustProxy: web requests do not say which address they come from: use true, or the number of proxies',
  )
})

test.each([
  [0, 'not 0'],
  [1.5, 'not 1.5'],
  ['10.0.0.1', `write trustProxy: ['10.0.0.1']`],
  [['localhost'], '"localhost" is not an IP address or range'],
  [['10.0.0.1', '10.0.0.0/40'], '"10.0.0.0/40" is not an IP address or range'],
])('trustProxy: %j is rejected', (trustProxy, remedy) => {
  expect(() => app().node({ trustProxy } as never)).toThrow(
    new RegExp(
      `node: trustProxy must be true, the number of proxies in a row, .*${remedy.replace(/[[\]]/g, '\\$&')}`,
    ),
  )
})

test.each<[string, Trust | undefined, string]>([
  ['a trusted proxy', true, '127.0.0.1'],
  ['a proxy that is not trusted', [INNER], OUTER],
])('over WebSocket behind %s, the client has its address', async (_, trustProxy, expected) => {
  const running = await app().listen({
    ws: { port: 0, hosts: [HOST, '127.0.0.1'], ...(trustProxy !== undefined && { trustProxy }) },
  })
  onTestFinished(() => running.close())
  const port = await proxy(Number(new URL(running.addresses.ws as string).port))
  const client = await connect(`ws://127.0.0.1:${port}/mcp`)
  onTestFinished(() => client.close())
  expect(await client.call('ip', {})).toBe(`${expected} undefined`)
})

test('a WebSocket request through a trusted proxy is checked by the host that the client used', async () => {
  const open = async (trustProxy: Trust): Promise<number> => {
    const running = await app().listen({ http: { port: 0, hosts: [HOST], trustProxy }, ws: true })
    onTestFinished(() => running.close())
    return proxy(Number(new URL(running.url as string).port))
  }
  const status = async (port: number, host: string): Promise<string> => {
    const socket = connectNet({ port, host: '127.0.0.1' })
    onTestFinished(() => void socket.destroy())
    socket.write(
      `GET /mcp HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    return first.toString().slice(9, 12)
  }
  const trusting = await open([OUTER])
  expect([await status(trusting, HOST), await status(trusting, 'evil.example')]).toEqual(['101', '403'])
  expect(await status(await open([INNER]), HOST)).toBe('403')
})

test('observers see the address of the client, on HTTP and TCP', async () => {
  const seen: unknown[] = []
  const server = app().use({ observer: { start: ({ method, ip }) => void seen.push([method, ip]) } })
  const running = await server.listen({
    http: { port: 0, trustProxy: [OUTER], hosts: [HOST] },
    tcp: { port: 0 },
  })
  onTestFinished(() => running.close())
  const port = Number(new URL(running.url as string).port)
  await ask(await proxy(port), '/mcp')
  await ask(port, '/mcp')
  const client = await connect(running.addresses.tcp as string)
  expect(await client.call('ip', {})).toBe('127.0.0.1 undefined')
  await client.close()
  expect(seen.slice(0, 2)).toEqual([
    ['tools/call', CLIENT],
    ['tools/call', CLIENT],
  ])
  expect(seen.at(-1)).toEqual(['tools/call', '127.0.0.1'])
})

test('a server with TLS tells its endpoints https', async () => {
  const { key, cert } = selfSigned('localhost', ['localhost'])
  const running = await app().listen({ http: { port: 0, tls: { key, cert } } })
  onTestFinished(() => running.close())
  const { request } = await import('node:https')
  const { port } = new URL(running.url as string)
  const reply = await new Promise<IncomingMessage>((resolve, reject) =>
    request({ port, path: '/own', rejectUnauthorized: false }, resolve).on('error', reject).end(),
  )
  expect(await text(reply)).toBe(`https://localhost:${port}/own`)
})

test.each<[unknown, string]>([
  ['10.0.0.0/8', "write trustProxy: ['10.0.0.0/8']"],
  ['10.0.0.1, ::1', "write trustProxy: ['10.0.0.1', '::1']"],
  ['loopback', "write trustProxy: ['127.0.0.0/8', '::1']"],
  [['loopback', '10.0.0.1'], "write trustProxy: ['127.0.0.0/8', '::1', '10.0.0.1']"],
  ['linklocal', "write trustProxy: ['169.254.0.0/16', 'fe80::/10']"],
  ['uniquelocal', "write trustProxy: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']"],
  ['true', 'write trustProxy: true'],
  ['2', 'write trustProxy: 2'],
])('trustProxy: %j is rejected with a value that is accepted', (given, remedy) => {
  const reason = messageOf(() => app().node({ trustProxy: given as Trust }))
  expect(reason).toContain(remedy)
  const [, value] = /write trustProxy: (.*?\]|\w+)/.exec(reason) as unknown as [string, string]
  expect(() => app().node({ trustProxy: JSON.parse(value.replaceAll("'", '"')) as Trust })).not.toThrow()
})

test.each([
  ['proxy.example', '"proxy.example" is not an IP address or range'],
  [['::1', 'proxy.example'], '"proxy.example" is not an IP address or range'],
  [0, 'not 0'],
])('trustProxy: %j is rejected without a value to write', (given, reason) => {
  const said = messageOf(() => app().node({ trustProxy: given as Trust }))
  expect([said.includes(reason), said.includes('write')]).toEqual([true, false])
})

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}
