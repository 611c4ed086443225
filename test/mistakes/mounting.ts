import { createServer as createHttp, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { App } from '../../src/index.ts'
import type { Mistake, Scene } from './mistake.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

const post = (path: string, more: object = {}): Request =>
  new Request(`http://localhost${path}`, { method: 'POST', headers: HEADERS, body: PING, ...more })

/** The reply of a program on Node's HTTP server, which hands errors to its framework. */
async function ask(scene: Scene, listener: RequestListener, headers: object = {}): Promise<string> {
  const server: Server = createHttp(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  for (let times = 0; times < 2; times++)
    await fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: PING }).then((reply) =>
      reply.text(),
    )
  return (await fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: PING })).text()
}

/** The error that Express got, which prints it on the console. */
function expressWith(scene: Scene, mount: (site: express.Express, app: App) => unknown): Promise<string> {
  const site = express()
  mount(site, scene.server())
  site.use((error: Error, _request: unknown, response: express.Response, _next: unknown) => {
    response.status(500).send(error.message)
  })
  return ask(scene, site)
}

function honoWith(mount: (site: Hono, app: App) => unknown, path = '/mcp'): Mistake['make'] {
  return async ({ server }) => {
    const site = new Hono()
    mount(site, server())
    site.onError((error, c) => c.text(error.message, 500))
    await site.fetch(post(path))
    return (await site.fetch(post(path))).text()
  }
}

const NOT_CALLED = {
  problem: 'app.node was used as a listener, but it returns one',
  fix: 'write app.node()',
}

/** Mistakes with frameworks that own the port. */
export const mounting: readonly Mistake[] = [
  {
    wrote: 'express.use(app.node)',
    make: (scene) => expressWith(scene, (site, app) => site.use(app.node as never)),
    ...NOT_CALLED,
  },
  {
    wrote: "express.use('/mcp', (req, res) => app.node(req, res))",
    make: (scene) =>
      expressWith(scene, (site, app) => site.use('/mcp', ((req: never) => app.node(req)) as never)),
    ...NOT_CALLED,
  },
  {
    wrote: 'http.createServer(app.node)',
    make: ({ server }) => {
      const site = createHttp(server().node as never)
      site.emit('request', { headers: {}, method: 'POST', url: '/' }, {})
    },
    ...NOT_CALLED,
  },
  {
    wrote: "fastify.all('/mcp', app.node)",
    make: async ({ server }) => {
      const site = fastify()
      site.all('/mcp', server().node as never)
      return (await site.inject({ method: 'POST', url: '/mcp', headers: HEADERS, payload: PING })).body
    },
    ...NOT_CALLED,
  },
  {
    wrote: "fastify.all('/mcp', (request, reply) => app.node()(request, reply))",
    make: async ({ server }) => {
      const site = fastify()
      const serve = server().node() as unknown as (request: unknown, reply: unknown) => void
      site.all('/mcp', async (request, reply) => serve(request, reply))
      return (await site.inject({ method: 'POST', url: '/mcp', headers: HEADERS, payload: PING })).body
    },
    problem: 'app.node() was called with the request of Fastify',
    fix: 'serve(request.raw, reply.raw, request.body)',
  },
  {
    wrote: "fastify.all('/mcp', app.node())",
    make: async ({ server }) => {
      const site = fastify()
      site.all('/mcp', server().node() as never)
      return (await site.inject({ method: 'POST', url: '/mcp', headers: HEADERS, payload: PING })).body
    },
    problem: 'app.node() was called with the request of Fastify',
    fix: 'reply.hijack()',
  },
  {
    wrote: 'koa.use((ctx) => app.node()(ctx))',
    make: ({ server }) => (server().node() as (ctx: unknown) => void)({ req: {}, res: {}, request: {} }),
    problem: 'app.node() was called with the context of Koa',
    fix: 'serve(ctx.req, ctx.res, ctx.request.body)',
  },
  {
    wrote: 'app.node()(new Request(url))',
    make: ({ server }) => (server().node() as (request: unknown) => void)(post('/mcp')),
    problem: 'app.node() was called without a response of Node',
    fix: 'app.fetch',
  },
  {
    wrote: "hono.all('/mcp', app.fetch)",
    make: honoWith((site, app) => site.all('/mcp', app.fetch as never)),
    problem: 'app.fetch was called with the context of Hono',
    fix: 'write (c) => app.fetch(c.req.raw)',
  },
  {
    wrote: "hono.all('/mcp', (c) => app.fetch(c.req))",
    make: honoWith((site, app) => site.all('/mcp', (c) => app.fetch(c.req as never))),
    problem: 'app.fetch was called with the request of Hono',
    fix: 'write (c) => app.fetch(c.req.raw)',
  },
  {
    wrote: "express.use('/mcp', app.fetch)",
    make: (scene) => expressWith(scene, (site, app) => site.use('/mcp', app.fetch as never)),
    problem: 'app.fetch was called with a request of Node',
    fix: 'app.node()',
  },
  {
    wrote: "app.fetch('http://localhost/mcp')",
    make: ({ server }) => (server().fetch as (url: unknown) => unknown)('http://localhost/mcp'),
    problem: 'app.fetch was called with a string',
    fix: 'pass a web Request',
  },
  {
    wrote: 'c.req.json() before app.fetch(c.req.raw) in Hono',
    make: honoWith((site, app) =>
      site.all('/mcp', async (c) => {
        await c.req.json()
        return app.fetch(c.req.raw)
      }),
    ),
    problem: 'a body parser has already read the request body',
    fix: 'app.fetchWith({})(request, { body })',
  },
  {
    wrote: 'a body that a parser of node:http has read and dropped',
    make: (scene) => {
      const serve = scene.server().node()
      return ask(scene, (request, response) => {
        request.on('end', () => serve(request, response)).resume()
      })
    },
    problem: 'a body parser has already read the request body',
    fix: 'app.node()(request, response, body)',
  },
  {
    wrote: 'app.node({ path })',
    make: ({ server }) => server().node({ path: '/mcp' } as never),
    problem: 'node: there is no option "path"',
    fix: 'the options are hosts, cors, sessions',
  },
  {
    wrote: "app.node({ cors: '*' })",
    make: ({ server }) => server().node({ cors: '*' as never }),
    problem: 'cors must be a list',
    fix: "write cors: ['*']",
  },
  {
    wrote: "app.node({ cors: ['example.com'] })",
    make: ({ server }) => server().node({ cors: ['example.com'] }),
    problem: '"example.com" is not an origin',
    fix: 'https://example.com',
  },
  {
    wrote: "app.node({ hosts: ['https://example.com'] })",
    make: ({ server }) => server().node({ hosts: ['https://example.com'] }),
    problem: '"https://example.com" is not a host',
    fix: 'example.com',
  },
  {
    wrote: 'a page of another site, without cors',
    make: (scene) => ask(scene, scene.server().node() as RequestListener, { origin: 'https://site.example' }),
    problem: /warning: .*the Origin "https:\/\/site\.example" is not allowed/,
    fix: "cors: ['https://site.example']",
  },
  {
    wrote: "app.node({ hosts: ['a.example'] }) behind b.example",
    make: (scene) => ask(scene, scene.server().node({ hosts: ['a.example'] }) as RequestListener),
    problem: /warning: .*the Host "127\.0\.0\.1:\d+" is not served here/,
    fix: "hosts: ['127.0.0.1']",
  },
  {
    wrote: 'app.node({ auth: true })',
    make: ({ server }) => server().node({ auth: true as never }),
    problem: 'auth must be a method of pierhead/auth',
    fix: 'write auth: bearer(verify)',
  },
]
