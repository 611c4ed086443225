import { createServer as createNodeServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createServer, type App, type Plugin } from '../../src/index.ts'
import type { Limits } from '../../src/protocol/limits.ts'
import { BOTH, initialize } from './messages.ts'
import { Gate } from './server.ts'
import { send, type Received, type Sent } from './wire.ts'

const BYTES = Uint8Array.of(0xff, 0xd8, 0x00, 0x80)
const PAGE = 'https://page.example'

function appWith(endpoints: NonNullable<Plugin['endpoints']>, limits: Partial<Limits> = {}): App {
  const app = createServer({ name: 'web', version: '1', log: () => undefined, limits })
  return app.tool('open', {}, () => 'open').use({ endpoints })
}

async function listen(app: App, path = '/mcp'): Promise<number> {
  const running = await app.listen({ http: { port: 0, path, cors: [PAGE] } })
  onTestFinished(() => running.close())
  return Number(new URL(running.url as string).port)
}

/** The adapters that serve web endpoints. Each returns a function that sends one request. */
const ADAPTERS: Readonly<Record<Adapter, (app: App) => Promise<(sent: Sent) => Promise<Reply>>>> = {
  async listen(app: App) {
    const port = await listen(app)
    return (sent: Sent) => send(port, { method: 'GET', ...sent })
  },
  async node(app: App) {
    const server = createNodeServer(app.node({ cors: [PAGE] }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    return (sent: Sent) => send(port, { method: 'GET', ...sent })
  },
  async fetch(app: App) {
    const serve = app.fetchWith({ cors: [PAGE] })
    return async ({ path, headers = {}, ...rest }: Sent) => {
      const given = new Headers(headers as Record<string, string>)
      const reply = await serve(
        new Request(`http://localhost${path}`, { ...rest, headers: given } as RequestInit),
      )
      const bytes = new Uint8Array(await reply.arrayBuffer())
      const cookies = reply.headers.getSetCookie()
      const own = {
        ...Object.fromEntries(reply.headers),
        ...(cookies.length > 0 && { 'set-cookie': cookies }),
      }
      return { status: reply.status, headers: own, bytes, text: new TextDecoder().decode(bytes) }
    }
  },
}

type Reply = Pick<Received, 'status' | 'headers' | 'bytes' | 'text'>
type Adapter = 'listen' | 'node' | 'fetch'
const EACH = Object.keys(ADAPTERS) as Adapter[]

test.each(EACH)('%s: bytes, cookies and Vary of a handler arrive as it gave them', async (adapter) => {
  const app = appWith({
    '/image': () => {
      const headers = new Headers({ vary: 'Accept', 'content-type': 'image/x' })
      for (const cookie of ['a=1; Path=/', 'b=2']) headers.append('set-cookie', cookie)
      return new Response(BYTES, { status: 201, headers })
    },
  })
  const ask = await ADAPTERS[adapter](app)
  const reply = await ask({ path: '/image', headers: { origin: PAGE } })
  expect([reply.status, [...reply.bytes]]).toEqual([201, [...BYTES]])
  expect(reply.headers).toMatchObject({
    'set-cookie': ['a=1; Path=/', 'b=2'],
    vary: 'Accept, Origin',
    'access-control-allow-origin': PAGE,
    'content-type': 'image/x',
  })
})

test.each(EACH)('%s: a web page may use every verb that a handler gets', async (adapter) => {
  const ask = await ADAPTERS[adapter](appWith({ '/own': () => new Response() }))
  const headers = { origin: PAGE, 'access-control-request-method': 'PUT' }
  const reply = await ask({ method: 'OPTIONS', path: '/own', headers })
  expect([reply.status, reply.headers['access-control-allow-methods']]).toEqual([
    204,
    'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  ])
})

test('another verb gets 405 with the verbs of web endpoints', async () => {
  const ask = await ADAPTERS.listen(appWith({ '/own': () => new Response() }))
  const reply = await ask({ method: 'TRACE', path: '/own' })
  expect([reply.status, reply.headers.allow]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'])
})

test.each(EACH)('%s: HEAD gets the length of the body that GET would get', async (adapter) => {
  const app = appWith({
    '/five': () => new Response('12345'),
    '/told': () => new Response(null, { headers: { 'content-length': '7' } }),
  })
  const ask = await ADAPTERS[adapter](app)
  for (const [path, length] of [
    ['/five', '5'],
    ['/told', '7'],
  ] as const) {
    const reply = await ask({ method: 'HEAD', path })
    expect([reply.status, reply.headers['content-length'], reply.text]).toEqual([200, length, ''])
  }
})

test.each(EACH)('%s: a handler that fails gets 500, and says nothing', async (adapter) => {
  const app = appWith({
    '/throws': () => {
      throw new Error('secret')
    },
    '/rejects': () => Promise.reject(new Error('secret')),
    '/nothing': () => undefined as never,
    '/error': () => Response.error(),
    '/breaks': () =>
      new Response(new ReadableStream({ start: (stream) => stream.error(new Error('secret')) })),
  })
  const ask = await ADAPTERS[adapter](app)
  for (const path of ['/throws', '/rejects', '/nothing', '/error', '/breaks']) {
    const reply = await ask({ path })
    expect([path, reply.status]).toEqual([path, 500])
    expect(reply.text).toMatch(/internal error \(reference /)
    expect(reply.text).not.toContain('secret')
  }
})

test.each(['listen', 'node'] as const)(
  '%s: a header or cookie that HTTP cannot carry gives 500, without the other headers',
  async (adapter) => {
    const app = appWith({
      '/header': () => new Response('x', { headers: { 'x-own': '\x01', 'set-cookie': 'a=1' } }),
      '/cookie': () => new Response('x', { headers: { 'set-cookie': 'a=\x01' } }),
    })
    const ask = await ADAPTERS[adapter](app)
    for (const path of ['/header', '/cookie']) {
      const reply = await ask({ path })
      expect([path, reply.status, reply.headers['set-cookie']]).toEqual([path, 500, undefined])
    }
  },
)

test.each(EACH)('%s: a handler that hangs does not keep the app from closing', async (adapter) => {
  const gate = new Gate()
  const hang = (): Promise<Response> => (gate.enter(), new Promise(() => undefined))
  const app = appWith({ '/hang': hang }, { drainMs: 1 })
  const ask = await ADAPTERS[adapter](app)
  void ask({ path: '/hang' }).catch(() => undefined)
  await gate.entered
  expect(await app.close()).toBeUndefined()
})

test('the signal of a request aborts when the client disconnects', async () => {
  const gates = [new Gate(), new Gate()] as const
  let next = 0
  const app = appWith({
    '/wait': async ({ signal }) => {
      const gate = gates[next++] as Gate
      signal.addEventListener('abort', () => gate.open())
      gate.enter()
      await gate.opened
      return new Response()
    },
  })
  const asked = request({ port: await listen(app), path: '/wait' }).on('error', () => undefined)
  asked.end()
  await gates[0].entered
  asked.destroy()
  await gates[0].opened
  const gone = new AbortController()
  const reply = app.fetch(new Request('http://localhost/wait', { signal: gone.signal }))
  await gates[1].entered
  gone.abort()
  expect((await reply).status).toBe(200)
})

test('on our own listener a path belongs to exactly one of MCP and the endpoints', async () => {
  const app = appWith({ '/metrics': () => new Response('metrics') })
  const port = await listen(app, '/api/metrics')
  const mcp = await send(port, { path: '/api/metrics', body: initialize(), headers: BOTH })
  expect(mcp.json).toMatchObject({ result: { serverInfo: { name: 'web' } } })
  expect((await send(port, { method: 'GET', path: '/metrics?x' })).text).toBe('metrics')
})

test.each(EACH)('%s: the longest path that fits wins', async (adapter) => {
  const app = appWith({
    '/status': () => new Response('public'),
    '/admin/status': () => new Response('admin'),
  })
  const ask = await ADAPTERS[adapter](app)
  expect((await ask({ path: '/admin/status' })).text).toBe('admin')
  expect((await ask({ path: '/status' })).text).toBe('public')
})
