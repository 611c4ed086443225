import { request } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/client.ts'
import { createServer, type App, type Plugin } from '../../src/index.ts'
import { counters, pauseCalls } from '../../examples/orders/counters.ts'
import { namesOf, open } from './observed.ts'

function server(log: (level: string, message: string) => void = () => undefined): App {
  return createServer({ name: 'plugged', version: '1', log })
    .tool('open', {}, () => 'open')
    .tool('secret', {}, () => 'secret')
    .prompt('ask', {}, () => 'ask')
    .resource('note://secret', { name: 'secret' }, () => 'secret')
}

async function serve(app: App): Promise<URL> {
  const running = await app.listen({ http: { port: 0 } })
  onTestFinished(() => running.close())
  return new URL(running.url as string)
}

test('one plug-in adds to a server and to a client; each takes its own parts', async () => {
  const log: string[] = []
  const plugin: Plugin = {
    middleware: ({ method }, next) => (log.push(`server ${method}`), next()),
    clientMiddleware: (sent, next) => (log.push(`client ${sent.method}`), next()),
    observer: { end: ({ method }, { outcome }) => void log.push(`${method} ${outcome}`) },
  }
  const app = server().use(plugin)
  const client = await open(app, 'memory')
  client.use(plugin)
  log.length = 0
  expect(await client.call('open')).toBe('open')
  expect(log).toEqual(['client tools/call', 'server tools/call', 'tools/call result'])
})

test('visible hides items of every kind, those defined before and after', async () => {
  const app = server().use({ visible: ({ key }) => !key.includes('secret') })
  app.tool('late_secret', {}, () => 'late').tool('last', { visible: () => false }, () => 'last')
  const client = await open(app, 'memory')
  expect(await namesOf(client.tools())).toEqual(['open'])
  expect(await namesOf(client.prompts())).toEqual(['ask'])
  expect(await namesOf(client.resources())).toEqual([])
  for (const name of ['secret', 'late_secret', 'last'])
    await expect(client.request('tools/call', { name })).rejects.toMatchObject({ kind: 'unknown_tool' })
  await expect(client.read('note://secret')).rejects.toMatchObject({ kind: 'unknown_resource' })
})

test('visible takes effect even if the list was served before', async () => {
  const app = server()
  const client = await open(app, 'memory')
  const list = async (): Promise<unknown> => (await client.request('tools/list', {}))['tools']
  expect(await list()).toHaveLength(2)
  app.use({ visible: ({ key }) => key === 'open' })
  expect(await list()).toMatchObject([{ name: 'open' }])
})

test.each([
  ['of a plug-in', (app: App, visible: () => boolean) => app.use({ visible })],
  ['of a tool', (app: App, visible: () => boolean) => app.tool('own', { visible }, () => 'own')],
  [
    'of a tool that a plug-in shows',
    (app: App, visible: () => boolean) =>
      app.tool('own', { visible }, () => 'own').use({ visible: () => true }),
  ],
])('visible %s that returns a promise hides the item, and the log says why, once', async (_what, add) => {
  for (const later of [() => Promise.resolve(true), () => Promise.reject(new Error('down'))]) {
    const log = vi.fn<(level: string, message: string) => void>()
    const app = add(server(log), later as unknown as () => boolean)
    const client = await open(app, 'memory')
    for (const _ of [1, 2]) {
      expect(await namesOf(client.tools())).not.toContain('own')
      const call = client.request('tools/call', { name: 'own' })
      await expect(call).rejects.toMatchObject({ kind: 'unknown_tool' })
    }
    const said = expect.stringMatching(/^visible of "\w+" returned a promise, .*synchronous/) as string
    expect(log.mock.calls.map(([level, message]) => [level, message])).toEqual([['error', said]])
  }
})

test('endpoints answer web requests at their paths beside MCP', async () => {
  const bytes = Uint8Array.of(0, 255, 128)
  const app = server().use({
    endpoints: {
      '/metrics': (asked) =>
        new Response(`${asked.method} ${new URL(asked.url).search}`, { headers: { 'x-own': '1' } }),
      '/echo': async (asked) =>
        Response.json({ got: await asked.text(), type: asked.headers.get('content-type') }),
      '/image': () => new Response(bytes, { headers: { 'content-type': 'image/x' } }),
      '/broken': () => {
        throw new Error('secret')
      },
    },
  })
  const url = await serve(app)
  const metrics = await fetch(new URL('/metrics?a=1', url))
  expect([metrics.status, metrics.headers.get('x-own'), await metrics.text()]).toEqual([200, '1', 'GET ?a=1'])
  const echo = await fetch(new URL('/echo', url), {
    method: 'POST',
    body: 'hello',
    headers: { 'content-type': 'text/x' },
  })
  expect(await echo.json()).toEqual({ got: 'hello', type: 'text/x' })
  expect(new Uint8Array(await (await fetch(new URL('/image', url))).arrayBuffer())).toEqual(bytes)
  const broken = await fetch(new URL('/broken', url))
  expect(await broken.text()).not.toContain('secret')
  const client = await connect(url.href)
  onTestFinished(() => client.close())
  expect(await client.call('open')).toBe('open')
})

test('endpoints are behind the same checks of host and origin', async () => {
  const url = await serve(server().use({ endpoints: { '/metrics': () => new Response('ok') } }))
  const status = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const options = { port: url.port, path: '/metrics', headers }
      request(options, (reply) => resolve(reply.resume().statusCode))
        .on('error', reject)
        .end()
    })
  expect(await status({ host: 'evil.example' })).toBe(403)
  expect(await status({ origin: 'https://evil.example' })).toBe(403)
  expect(await status({})).toBe(200)
})

test('endpoints see the body of PUT, the path alone of an odd target, and no verb that a web request cannot have', async () => {
  const seen: string[] = []
  const endpoints = {
    '/own': async (asked: Request) => {
      const { origin, pathname } = new URL(asked.url)
      seen.push(`${asked.method} ${origin === url.origin} ${pathname} ${await asked.text()}`)
      return new Response(null, { status: 204 })
    },
  }
  const url = await serve(server().use({ endpoints }))
  await fetch(new URL('/own', url), { method: 'PUT', body: 'whole' })
  expect(seen).toEqual(['PUT true /own whole'])
  const status = await new Promise((resolve, reject) => {
    const options = { port: url.port, path: '/own', method: 'TRACE' }
    request(options, (reply) => resolve(reply.resume().statusCode))
      .on('error', reject)
      .end()
  })
  expect([status, seen.length]).toEqual([405, 1])
})

test('a web mount serves endpoints too', async () => {
  const app = server().use({ endpoints: { '/metrics': () => new Response('ok') } })
  const reply = await app.fetch(new Request('http://localhost/api/metrics'))
  expect([reply.status, await reply.text()]).toEqual([200, 'ok'])
})

test.each([
  [
    'an unknown part',
    { middlewares: () => undefined },
    'there is no option "middlewares"; did you mean "middleware"?',
  ],
  ['a part that is not a function', { visible: true }, 'visible must be a function, not true'],
  [
    'an observer of something else',
    { observer: { stop: () => undefined } },
    'observer must be an object with a start or end function, or both',
  ],
  [
    'an endpoint without a path',
    { endpoints: { metrics: () => new Response() } },
    'endpoints must be functions by path',
  ],
])('%s is rejected with what to do', (_what, plugin, words) => {
  expect(() => server().use(plugin as never)).toThrow(words)
})

test('endpoints must come before HTTP is open', async () => {
  const app = server()
  await serve(app)
  expect(() => app.use({ endpoints: { '/late': () => new Response() } })).toThrow(
    'use: add endpoints before listen() or a mount opens HTTP',
  )
})

test('the plug-in of the guide counts outcomes, and its interceptor pauses calls', async () => {
  let isPaused = false
  const app = server().use(counters())
  pauseCalls(app, () => isPaused)
  const url = await serve(app)
  const client = await connect(url.href, { revision: '2026-07-28' })
  onTestFinished(() => client.close())
  expect(await client.call('open')).toBe('open')
  isPaused = true
  await expect(client.call('open')).rejects.toThrow('read-only until 14:00')
  const totals = await (await fetch(new URL('/metrics', url))).text()
  expect(totals).toContain('tool_error 1\n')
})

test('endpoints may come again once HTTP is closed, or could not be opened', async () => {
  const app = server()
  const taken = Number((await serve(server())).port)
  const running = await app.listen({ http: { port: 0 }, ws: { port: 0 } })
  await running.close()
  await expect(app.listen({ http: { port: taken } })).rejects.toThrow('is in use')
  await expect(app.listen({ ws: { port: taken } })).rejects.toThrow('is in use')
  app.use({ endpoints: { '/late': () => new Response('late') } })
  const url = await serve(app)
  expect(await (await fetch(new URL('/late', url))).text()).toBe('late')
})

test('closing the app while it begins to listen closes the listener too', async () => {
  const app = server()
  const opening = app.listen({ http: { port: 0 } })
  await app.close()
  const { url, closed } = await opening
  await closed
  await expect(fetch(url as string)).rejects.toThrow('fetch failed')
})

test('closing the app while it fails to listen is fine', async () => {
  const app = server()
  const [opened, closed] = await Promise.allSettled([app.listen({ nonsense: true } as never), app.close()])
  expect([opened.status, closed.status]).toEqual(['rejected', 'fulfilled'])
})
