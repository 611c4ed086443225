import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Hono } from 'hono'
import { describe, expect, onTestFinished, test } from 'vitest'
import { oauth, type BearerOptions } from '../../src/auth.ts'
import { headed } from '../http/messages.ts'
import { send } from '../http/wire.ts'
import { as, callTool, listen, people, reports, RESOURCE, server } from './server.ts'
import { startSmallIssuer } from './small-issuer.ts'

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const options: BearerOptions = {
  resource: RESOURCE,
  issuers: ['https://id.example', 'https://other.example/tenant'],
  scopes: ['use'],
  metadata: { resource_name: 'Orders' },
}
const DOCUMENT = {
  resource: RESOURCE,
  authorization_servers: ['https://id.example', 'https://other.example/tenant'],
  scopes_supported: ['use'],
  bearer_methods_supported: ['header'],
  resource_name: 'Orders',
}

/** The URL that a challenge names. */
function urlIn(reply: Response): URL {
  return new URL(
    /resource_metadata="([^"]*)"/.exec(reply.headers.get('www-authenticate') ?? '')?.[1] as string,
  )
}

test.each(['resource', 'authorization_servers', 'scopes_supported', 'bearer_methods_supported'])(
  'metadata cannot replace %s, which follows from the options',
  (name) => {
    const create = (): unknown => people({ ...options, metadata: { resource_name: 'Orders', [name]: ['x'] } })
    expect(create).toThrow(`remove ${name}, which follows from the other options`)
  },
)

describe('on our listener', () => {
  test('A.metadata-path the metadata is at both well-known paths and no others, for everyone and without a token', async () => {
    const { url } = await listen(people(options))
    for (const path of [WELL_KNOWN, `${WELL_KNOWN}/mcp`]) {
      const reply = await fetch(new URL(path, url), { headers: { origin: 'https://page.example' } })
      expect([reply.status, await reply.json()]).toEqual([200, DOCUMENT])
      expect(reply.headers.get('content-type')).toBe('application/json')
      expect(reply.headers.get('access-control-allow-origin')).toBe('*')
      expect(reply.headers.get('cache-control')).toMatch(/max-age=\d+/)
    }
    for (const path of [`${WELL_KNOWN}/other`, `${WELL_KNOWN}s`, `/x${WELL_KNOWN}`])
      expect((await fetch(new URL(path, url))).status).toBe(404)
  })

  test('the challenge names a URL that works, on the origin of the resource', async () => {
    const { url } = await listen(people(options))
    const named = urlIn(await callTool(url, 'who'))
    expect(named.href).toBe(`https://mcp.example${WELL_KNOWN}/mcp`)
    expect((await fetch(new URL(named.pathname, url))).status).toBe(200)
  })

  test('behind a proxy that changes the path, the challenge names a URL below the resource', async () => {
    const { url } = await listen(people({ ...options, resource: 'https://api.example/v1/orders/mcp' }))
    const named = urlIn(await callTool(url, 'who'))
    expect(named.href).toBe(`https://api.example/v1/orders/mcp?${WELL_KNOWN}`)
    // The proxy maps the path of the resource to the path of the listener.
    expect((await fetch(`${url}${named.search}`)).status).toBe(200)
    expect((await fetch(new URL(`${WELL_KNOWN}/v1/orders/mcp`, url))).status).toBe(200)
  })

  test.each(['https://mcp.example', 'https://mcp.example/'])(
    'for the resource %s, which has no path, the challenge names a URL that works',
    async (resource) => {
      const { url } = await listen(people({ ...options, resource }))
      const named = urlIn(await callTool(url, 'who'))
      expect(named.href).toBe(`https://mcp.example${WELL_KNOWN}`)
      // With and without a proxy that maps the root to the path of the listener.
      for (const at of [new URL(named.pathname, url), `${url}${named.pathname}`]) {
        const reply = await fetch(at)
        expect([reply.status, await reply.json()]).toEqual([200, { ...DOCUMENT, resource }])
      }
    },
  )

  test('the URLs never come from the request, even if a proxy is trusted', async () => {
    const { port } = await listen(people(options), { trustProxy: true, hosts: ['*'] })
    const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
    const asked = await send(port, { method: 'GET', path: WELL_KNOWN, headers })
    expect(asked.json).toEqual(DOCUMENT)
    const rejected = await send(port, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })
    expect(rejected.headers['www-authenticate']).toContain('"https://mcp.example/')
  })

  test('HEAD has no body, preflight requests are allowed, other methods get 405', async () => {
    const { url } = await listen(people(options))
    const at = new URL(WELL_KNOWN, url)
    const head = await fetch(at, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Number(head.headers.get('content-length'))).toBe(JSON.stringify(DOCUMENT).length)
    const preflight = await fetch(at, {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example', 'access-control-request-method': 'GET' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(preflight.headers.get('access-control-allow-methods')).toContain('GET')
    for (const method of ['POST', 'DELETE', 'PUT']) {
      const reply = await fetch(at, { method })
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
  })

  test('a port for WebSocket alone serves it too', async () => {
    const app = server(people(options))
    const { addresses } = await app.listen({ ws: { port: 0 }, onUncaught: 'exit' })
    onTestFinished(() => app.close())
    const reply = await fetch(new URL(WELL_KNOWN, addresses.ws?.replace('ws:', 'http:')))
    expect(await reply.json()).toEqual(DOCUMENT)
  })

  test('without a resource there is none, and challenges name none', async () => {
    const { url } = await listen(people({ scopes: ['use'] }))
    expect((await fetch(new URL(WELL_KNOWN, url))).status).toBe(404)
    expect((await callTool(url, 'who')).headers.get('www-authenticate')).toBe('Bearer scope="use"')
  })

  test('a server without auth has none', async () => {
    const { url } = await listen(undefined)
    expect((await fetch(new URL(WELL_KNOWN, url))).status).toBe(404)
  })

  test('the methods of a list are described together', async () => {
    const other = people({ issuers: ['https://third.example'], scopes: ['more'] })
    const { url } = await listen([people({ ...options, metadata: {} }), other])
    expect(await (await fetch(new URL(WELL_KNOWN, url))).json()).toEqual({
      resource: RESOURCE,
      authorization_servers: ['https://id.example', 'https://other.example/tenant', 'https://third.example'],
      scopes_supported: ['use', 'more'],
      bearer_methods_supported: ['header'],
    })
  })
})

type Site = (path: string, init?: RequestInit) => Promise<Response>

async function expressSite(mount: (web: ReturnType<typeof express>) => unknown): Promise<Site> {
  const web = express()
  mount(web)
  const http = createHttp(web).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  onTestFinished(() => void http.close())
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return (path, init) => fetch(`${origin}${path}`, init)
}

const auth = people(options)

/** Ways to mount the server at /mcp, and whether paths below it reach the mount. */
const SITES: Readonly<Record<string, { readonly open: () => Promise<Site>; readonly isPrefix: boolean }>> = {
  'Express, use': {
    open: () => expressSite((web) => web.use('/mcp', server().node({ auth }))),
    isPrefix: true,
  },
  'Express, all': {
    open: () => expressSite((web) => web.all('/mcp', server().node({ auth }))),
    isPrefix: false,
  },
  'Hono, all': {
    open: async () => {
      const handle = server().fetchWith({ auth })
      const web = new Hono().all('/mcp', (context) => handle(context.req.raw))
      return async (path, init) => web.request(`http://localhost${path}`, init)
    },
    isPrefix: false,
  },
  'Hono, all below': {
    open: async () => {
      const handle = server().fetchWith({ auth })
      const web = new Hono().all('/mcp/*', (context) => handle(context.req.raw))
      return async (path, init) => web.request(`http://localhost${path}`, init)
    },
    isPrefix: true,
  },
}

describe.each(Object.entries(SITES))('mounted with %s', (_, { open, isPrefix }) => {
  test('the challenge names a URL that works', async () => {
    const site = await open()
    const named = urlIn(await site('/mcp', { headers: { accept: 'text/event-stream' } }))
    expect(named.href.startsWith(RESOURCE)).toBe(true)
    const reply = await site(`${named.pathname}${named.search}`)
    expect([reply.status, await reply.json()]).toEqual([200, DOCUMENT])
    expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    expect((await site(`${named.pathname}${named.search}`, { method: 'PUT' })).status).toBe(405)
  })

  test('the metadata is also below the mount, where the framework routes it there', async () => {
    const site = await open()
    const reply = await site(`/mcp${WELL_KNOWN}`)
    expect(reply.status).toBe(isPrefix ? 200 : 404)
  })
})

test('a resource without a path is right for a mount at the root of Express, and a warning says so elsewhere', async () => {
  const rooted = people({ ...options, resource: 'https://mcp.example' })
  const warnings = (): readonly string[] => reports.filter((line) => line.includes('resource has no path'))
  const asked = { headers: { accept: 'text/event-stream' } }
  const root = await expressSite((web) => web.use(server().node({ auth: rooted })))
  const named = urlIn(await root('/', asked))
  expect((await root(`${named.pathname}${named.search}`)).status).toBe(200)
  expect((await root(WELL_KNOWN)).status).toBe(200)
  expect(warnings()).toEqual([])
  const below = await expressSite((web) => web.use('/mcp', server().node({ auth: rooted })))
  for (let times = 0; times < 2; times++) expect((await below('/mcp', asked)).status).toBe(401)
  expect(warnings()).toHaveLength(1)
  expect(warnings()[0]).toContain(
    'resource has no path, so clients cannot find the metadata of a mount at "https://mcp.example/mcp"; ' +
      'write resource: "https://mcp.example/mcp", and audience: "https://mcp.example" if that is what the tokens name',
  )
})

test('with the path in resource and the site as audience, tokens for the site are accepted below a path, and the metadata is found', async () => {
  const issuer = await startSmallIssuer('https://mcp.example')
  onTestFinished(() => issuer.close())
  const auth = oauth({
    issuer: issuer.url,
    resource: 'https://mcp.example/mcp',
    audience: 'https://mcp.example',
  })
  const site = await expressSite((web) => web.all('/mcp', server().node({ auth })))
  const { body, headers } = headed('tools/call', { name: 'who' })
  const ask = (more: object): Promise<Response> =>
    site('/mcp', { method: 'POST', body, headers: { ...headers, ...more } })
  expect((await ask(as(await issuer.sign()))).status).toBe(200)
  const named = urlIn(await ask({}))
  const reply = await site(`${named.pathname}${named.search}`)
  expect(await reply.json()).toMatchObject({
    resource: 'https://mcp.example/mcp',
    authorization_servers: [issuer.url],
  })
})

test('a route of the framework for the well-known path can lead to the mount', async () => {
  const node = server().node({ auth })
  const site = await expressSite((web) => web.all('/mcp', node).get(`${WELL_KNOWN}/mcp`, node))
  const reply = await site(`${WELL_KNOWN}/mcp`)
  expect([reply.status, await reply.json()]).toEqual([200, DOCUMENT])
})

test.each([
  ['not a URL', 'mcp.example', 'resource is not a URL'],
  ['plain HTTP', 'http://mcp.example/mcp', 'resource must begin with https://'],
  ['a fragment', 'https://mcp.example/mcp#x', 'must not have a query or fragment'],
  ['a query', 'https://mcp.example/mcp?', 'must not have a query or fragment'],
  ['credentials', 'https://a:b@mcp.example/mcp', 'must not contain credentials'],
])('a resource that is or has %s is rejected', (_, resource, problem) => {
  expect(() => people({ resource })).toThrow(problem)
})

test('a resource on this machine may use plain HTTP', () => {
  for (const resource of ['http://localhost:3000/mcp', 'http://127.0.0.1:3000/mcp', 'http://[::1]:3000/mcp'])
    expect(people({ resource }).resource).toBe(resource)
})
