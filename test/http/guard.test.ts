import { once } from 'node:events'
import { createServer as createHttps, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type MountOptions } from '../../src/index.ts'
import { testTls } from '../harness/sockets.ts'
import { BOTH, call, headed, initialize, message } from './messages.ts'
import { open, start, tools } from './server.ts'
import { post, Raw, send } from './wire.ts'

const VERBS = ['POST', 'GET', 'DELETE', 'OPTIONS']

describe('Origin', () => {
  test.each([
    ['H.origin-foreign', 'https://evil.example'],
    ['H.origin-null', 'null'],
    ['H.origin-lookalike', 'http://localhost.evil.example'],
    ['H.origin-lookalike', 'http://127.0.0.1.evil.example'],
    ['H.origin-lookalike', 'http://evil-localhost'],
    ['H.origin-lookalike', 'http://localhost_'],
    ['H.origin-userinfo', 'http://localhost@evil.example'],
    ['H.origin-userinfo', 'http://evil.example#@localhost'],
    ['H.origin-unparsable', 'localhost'],
    ['H.origin-unparsable', 'http://'],
    ['H.origin-unparsable', 'file://localhost'],
    ['H.origin-path', 'http://localhost/evil'],
  ])('%s %s is 403 on every verb, and nothing runs [R070] [S3-8-4] [S4-4-5]', async (_, origin) => {
    const { port, endpoint } = await start()
    const session = await open(port)
    for (const method of VERBS) {
      const body = method === 'POST' ? initialize() : ''
      const reply = await send(port, { method, body, headers: { ...session.headers, origin } })
      expect([method, reply.status]).toEqual([method, 403])
      expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
    }
    expect(endpoint.sessions.size).toBe(1)
    expect((await session.post(message('ping', {}, 1))).status).toBe(200)
  })

  test.each([
    'http://localhost',
    'http://localhost:5173',
    'https://127.0.0.1:8443',
    'http://[::1]:3000',
    'HTTP://LOCALHOST',
  ])('a page of this machine, %s, may call and read the reply', async (origin) => {
    const { port } = await start()
    const reply = await post(port, initialize(), { ...BOTH, origin })
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': expect.stringContaining('Mcp-Session-Id'),
      vary: 'Origin',
    })
  })

  test('H.origin-foreign a foreign page is refused by the head of its request, before a body comes [R131]', async () => {
    const { port } = await start()
    const { headers } = headed('tools/list')
    const head = { ...headers, host: 'localhost', origin: 'https://evil.example', 'content-length': '100' }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    const raw = new Raw(port).write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n`)
    await raw.until(/^HTTP\/1\.1 \d+ /)
    expect(raw.status).toBe(403)
    raw.destroy()
  })

  test('a request without an Origin does not come from a page and is served', async () => {
    const { port } = await start()
    const reply = await post(port, initialize(), BOTH)
    expect(reply.status).toBe(200)
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('H.cors a listed origin may call; another may not, and credentials never', async () => {
    const { port } = await start(tools(), { cors: ['https://app.example'] })
    const listed = await post(port, initialize(), { ...BOTH, origin: 'https://app.example' })
    expect([listed.status, listed.headers['access-control-allow-origin']]).toEqual([
      200,
      'https://app.example',
    ])
    expect(listed.headers).not.toHaveProperty('access-control-allow-credentials')
    for (const origin of [
      'https://app.example.evil',
      'http://app.example',
      'https://app.example:444',
      'https://xapp.example',
    ]) {
      expect((await post(port, initialize(), { ...BOTH, origin })).status).toBe(403)
    }
  })

  test('a refusal can be read by the page too', async () => {
    const { port } = await start(tools(), { cors: ['https://app.example'], limits: { httpBytes: 100 } })
    const from = { ...BOTH, origin: 'https://app.example' }
    for (const [body, headers, status] of [
      ['x'.repeat(200), from, 413],
      ['{}', { ...from, 'content-type': 'text/plain' }, 415],
      [message('ping', {}, 1), from, 400],
    ] as const) {
      const reply = await post(port, body, headers)
      expect([reply.status, reply.headers['access-control-allow-origin']]).toEqual([
        status,
        'https://app.example',
      ])
    }
  })
})

describe('what is refused before the endpoint sees it', () => {
  const page = { origin: 'https://app.example' }

  test.each([
    ['an unknown path', 404, '/other', {}],
    [
      'too many headers',
      431,
      '/mcp',
      Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-${at}`, '1'])),
    ],
  ])('%s gets %i, which an allowed page may read and others may not', async (_, status, path, more) => {
    const { port } = await start(tools(), { cors: [page.origin], limits: { headers: 25 } })
    const read = async (from: Record<string, string>): Promise<unknown> => {
      const reply = await send(port, { method: 'GET', path, headers: { ...more, ...from } })
      return [reply.status, reply.headers['access-control-allow-origin'], reply.headers.vary]
    }
    expect(await read(page)).toEqual([status, page.origin, 'Origin'])
    expect(await read({ origin: 'https://evil.example' })).toEqual([status, undefined, undefined])
    expect(await read({ ...page, host: 'evil.example' })).toEqual([status, undefined, undefined])
    expect(await read({})).toEqual([status, undefined, undefined])
  })

  test('the preflight request for an unknown path tells an allowed page that it may ask, so that it sees the 404', async () => {
    const { port } = await start(tools(), { cors: [page.origin] })
    const ask = async (from: Record<string, string>): Promise<unknown> => {
      const headers = { ...from, 'access-control-request-method': 'POST' }
      const reply = await send(port, { method: 'OPTIONS', path: '/other', headers })
      return [reply.status, reply.headers['access-control-allow-origin']]
    }
    expect(await ask(page)).toEqual([204, page.origin])
    expect(await ask({ origin: 'https://evil.example' })).toEqual([403, undefined])
  })
})

describe('preflight', () => {
  test('H.cors-preflight says what may be sent and read', async () => {
    const { port } = await start(tools(), { cors: ['https://app.example'] })
    const asked = 'content-type, mcp-param-region, x-evil'
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': asked,
    }
    const reply = await send(port, { method: 'OPTIONS', headers })
    expect(reply.status).toBe(204)
    expect(reply.headers['access-control-allow-origin']).toBe('https://app.example')
    expect(reply.headers['access-control-allow-methods']).toBe('POST, GET, DELETE, OPTIONS')
    const allowed = String(reply.headers['access-control-allow-headers']).toLowerCase().split(', ')
    for (const name of [
      'content-type',
      'accept',
      'authorization',
      'mcp-session-id',
      'mcp-protocol-version',
      'last-event-id',
      'mcp-method',
      'mcp-name',
      'mcp-param-region',
    ]) {
      expect(allowed).toContain(name)
    }
    expect(allowed).not.toContain('x-evil')
  })

  test('H.cors-star never answers a star', async () => {
    const { port } = await start(tools(), { cors: ['*'] })
    const reply = await post(port, initialize(), { ...BOTH, origin: 'https://anyone.example' })
    expect(reply.headers['access-control-allow-origin']).toBe('https://anyone.example')
    expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
  })
})

describe('Host', () => {
  test.each([
    ['H.host-foreign', 'evil.example'],
    ['H.host-lookalike', 'localhost.evil.example'],
    ['H.host-lookalike', '127.0.0.1.evil.example'],
    ['H.host-lookalike', 'localhost.'],
    ['H.host-userinfo', 'localhost@evil.example'],
    ['H.host-userinfo', 'evil.example:80@localhost'],
    ['H.host-wildcard', '0.0.0.0'],
    ['H.host-wildcard', '[::]'],
    ['H.host-port', 'localhost:99999999'],
    ['H.host-list', 'localhost, evil.example'],
  ])('%s "%s" is refused on every verb, and nothing runs [R071]', async (_, host) => {
    const { port, endpoint } = await start()
    for (const method of VERBS) {
      const reply = await send(port, {
        method,
        body: method === 'POST' ? initialize() : '',
        headers: { ...BOTH, host },
      })
      expect([method, Math.floor(reply.status / 100)]).toEqual([method, 4])
    }
    expect(endpoint.sessions.size).toBe(0)
  })

  test.each(['localhost', 'LocalHost:3000', '127.0.0.1', '127.0.0.1:80', '[::1]:9'])(
    'this machine as %s is served',
    async (host) => {
      const { port } = await start()
      expect((await post(port, initialize(), { ...BOTH, host })).status).toBe(200)
    },
  )

  test('H.host-twice H.host-empty two Hosts, none, and an empty one are refused', async () => {
    const { port } = await start()
    const body = initialize()
    const head = `POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`
    for (const hosts of [
      'Host: localhost\r\nHost: evil.example\r\n',
      'Host: localhost\r\nHost: localhost\r\n',
      'Host: localhost\r\nhOST: localhost\r\n',
      'Host:\r\n',
      '',
    ]) {
      const raw = await new Raw(port).write(`${head}${hosts}\r\n${body}`).gone()
      expect([400, 403]).toContain(raw.status)
    }
  })

  test('H.absolute-form a target with a host of its own is refused', async () => {
    const { port } = await start()
    const body = initialize()
    const head = `POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
    const raw = await new Raw(port).write(head + body).gone()
    expect(raw.status).toBe(404)
  })

  test('named hosts are served and no others, with pages of theirs', async () => {
    const { port } = await start(tools(), { hosts: ['mcp.example.com'] })
    expect((await post(port, initialize(), { ...BOTH, host: 'MCP.example.com:8080' })).status).toBe(200)
    expect(
      (
        await post(port, initialize(), {
          ...BOTH,
          host: 'mcp.example.com',
          origin: 'https://mcp.example.com',
        })
      ).status,
    ).toBe(200)
    expect((await post(port, initialize(), { ...BOTH, host: 'localhost' })).status).toBe(403)
  })
})

describe('where it listens', () => {
  test('a bind beyond loopback without named hosts is refused, and says what to do [R071] [S4-4-6]', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      await expect(tools().listen({ http: { port: 0, host } })).rejects.toThrow(/name the hosts/)
    }
  })

  test('the default is loopback [R071] [S4-4-6]', async () => {
    const running = await tools().listen({ http: { port: 0 } })
    expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    await running.close()
  })

  test('a bind beyond loopback serves the named hosts', async () => {
    const running = await tools().listen({ http: { port: 0, host: '0.0.0.0', hosts: ['mcp.example.com'] } })
    const port = Number(new URL(running.url ?? '').port)
    expect((await post(port, initialize(), { ...BOTH, host: 'mcp.example.com' })).status).toBe(200)
    expect((await post(port, initialize(), BOTH)).status).toBe(403)
    await running.close()
  })

  test.each([
    [{ hosts: ['http://localhost'] }, /without scheme/],
    [{ hosts: ['localhost:3000'] }, /without scheme/],
    [{ cors: ['app.example'] }, /scheme:\/\/host/],
    [{ cors: ['https://app.example/'] }, /scheme:\/\/host/],
    [{ path: 'mcp' }, /begin with/],
    [{ prot: 1 }, /prot/],
  ])('the option %j is refused with a reason', async (http, reason) => {
    const app = createServer({ name: 'x', version: '1' })
    await expect(app.listen({ http: { port: 0, ...http } as never })).rejects.toThrow(reason)
  })

  test('H.origin-rebound mounted, a page of the same host may call only if hosts name it', async () => {
    const ask = async (options: MountOptions, origin: string): Promise<[number, string | null]> => {
      const request = new Request('https://mcp.example/mcp', {
        method: 'POST',
        body: initialize(),
        headers: { ...BOTH, origin },
      })
      const { status, headers } = await tools().fetchWith(options)(request)
      return [status, headers.get('access-control-allow-origin')]
    }
    expect(await ask({}, 'https://mcp.example')).toEqual([403, null])
    expect(await ask({}, 'http://localhost:5173')).toEqual([200, null])
    expect(await ask({ cors: ['https://mcp.example'] }, 'https://mcp.example')).toEqual([
      200,
      'https://mcp.example',
    ])
    const hosts = ['mcp.example']
    expect(await ask({ hosts }, 'https://mcp.example')).toEqual([200, null])
    expect(await ask({ hosts }, 'https://mcp.example.evil')).toEqual([403, null])
    expect(await ask({ hosts }, 'http://localhost:5173')).toEqual([403, null])
  })

  test('mounted with hosts, fetch checks the host of the URL', async () => {
    const fetch = tools().fetchWith({ hosts: ['mcp.example'] })
    const ask = (host: string): Promise<Response> =>
      fetch(new Request(`https://${host}/mcp`, { method: 'POST', body: initialize(), headers: BOTH }))
    expect((await ask('mcp.example')).status).toBe(200)
    expect((await ask('evil.example')).status).toBe(403)
  })
})

test('a tool is not run for a page that may not call', async () => {
  let ran = 0
  const { port } = await start(tools().tool('mark', {}, () => ++ran))
  const session = await open(port)
  await session.post(call('mark'), { origin: 'https://evil.example' })
  await session.post(call('mark'), { host: 'evil.example' })
  expect(ran).toBe(0)
})

test('a page that was loaded without TLS is not one of a server with TLS', async () => {
  const app = tools()
  const hosts = ['mcp.example']
  const mount = createHttps(testTls(), app.node({ hosts })).listen(0, '127.0.0.1')
  onTestFinished(() => void mount.close())
  await once(mount, 'listening')
  const tls = testTls()
  const running = await app.listen({ http: { port: 0, hosts, tls }, ws: true })
  onTestFinished(() => running.close())
  const fetchWith = app.fetchWith({ hosts })
  const body = initialize()
  const ask = (port: number, headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const method = headers['upgrade'] === undefined ? 'POST' : 'GET'
      const options = { port, path: '/mcp', method, headers, rejectUnauthorized: false, agent: false }
      const asked = request(options, (reply) => {
        reply.destroy()
        resolve(reply.statusCode)
      })
      asked.on('upgrade', ({ statusCode }, socket) => {
        socket.destroy()
        resolve(statusCode)
      })
      asked.on('error', reject).end(method === 'POST' ? body : undefined)
    })
  const port = Number(new URL(running.url as string).port)
  for (const [origin, status] of [
    ['https://mcp.example', 200],
    ['http://mcp.example', 403],
  ] as const) {
    const headers = { ...BOTH, 'content-type': 'application/json', host: 'mcp.example', origin }
    expect(await ask(port, headers)).toBe(status)
    expect(await ask((mount.address() as AddressInfo).port, headers)).toBe(status)
    const upgrade = { ...UPGRADE, host: 'mcp.example', origin }
    expect(await ask(port, upgrade)).toBe(status === 200 ? 101 : 403)
    const web = new Request('https://mcp.example/mcp', { method: 'POST', headers, body })
    expect((await fetchWith(web)).status).toBe(status)
    const plain = new Request('http://mcp.example/mcp', { method: 'POST', headers, body })
    expect((await fetchWith(plain)).status).toBe(200)
  }
})

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
}
