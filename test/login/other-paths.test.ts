import { once } from 'node:events'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { AuthOption } from '../../src/app/auth.ts'
import { introspection, oauth } from '../../src/auth.ts'
import { browser, type OpenPage } from '../../src/auth-client.ts'
import { devAuth } from '../../src/auth-dev.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { headed } from '../http/messages.ts'
import { logIn, startLoginIssuer } from './engine-issuer.ts'

/** A port that is free now. */
async function freePort(): Promise<number> {
  const socket = createSocket().listen(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address() as AddressInfo
  await new Promise((done) => socket.close(done))
  return port
}

/** Serves a protected server at /mcp, /sse, /gist and /ws, and resolves with its origin. */
async function serve(auth: AuthOption, port = 0): Promise<string> {
  const app = createServer({ name: 'notes', version: '1.0.0', auth, log: () => undefined })
  app.tool('whoami', {}, (_, ctx) => ctx.auth?.sub)
  const http = { port, sse: true, gist: true }
  const running = await app.listen({ onUncaught: 'exit', http, ws: { path: '/ws' } })
  onTestFinished(() => running.close())
  return new URL(running.url as string).origin
}

interface Site {
  readonly origin: string
  readonly open: OpenPage
  /** A token for one URL of this origin. */
  token(path: string): Promise<string>
}

async function devSite(): Promise<Site> {
  const dev = await devAuth({ port: 0 })
  onTestFinished(() => dev.close())
  const origin = await serve(dev)
  return {
    origin,
    open: (page) => dev.login(page, { sub: 'ann' }),
    token: (path) => dev.token({ sub: 'ann', resource: origin + path }),
  }
}

async function realSite(): Promise<Omit<Site, 'token'>> {
  const issuer = await startLoginIssuer()
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  return {
    origin: await serve(oauth({ issuer: issuer.url, resource, scopes: ['notes:read'] }), port),
    open: (page) => logIn(page),
  }
}

const PATHS = ['/mcp', '/sse', '/ws'] as const

test.each([
  ['devAuth', devSite],
  ['oidc-provider', realSite],
])('clients log in over HTTP, HTTP+SSE and WebSocket at %s, with the resource /mcp', async (_, start) => {
  const { origin, open } = await start()
  for (const path of PATHS) {
    const url = (path === '/ws' ? origin.replace('http', 'ws') : origin) + path
    await using client = await connect(url, { auth: browser({ open }) })
    expect(await client.call('whoami', {})).toBe('ann')
  }
})

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

test.each(['/sse', '/gist', '/ws'])('%s has metadata of its own, which its challenges name', async (path) => {
  const { origin } = await devSite()
  const place = `${origin}${WELL_KNOWN}${path}`
  expect(await (await fetch(place)).json()).toMatchObject({ resource: origin + path })
  expect(await (await fetch(`${origin}${WELL_KNOWN}/mcp`)).json()).toMatchObject({
    resource: `${origin}/mcp`,
  })
  expect(await (await fetch(origin + WELL_KNOWN)).json()).toMatchObject({ resource: `${origin}/mcp` })
  if (path === '/ws') return
  const method = path === '/sse' ? 'GET' : 'POST'
  const headers = { accept: '*/*', 'content-type': 'application/json' }
  const reply = await fetch(origin + path, { method, headers, ...(method === 'POST' && { body: '{}' }) })
  expect(reply.status).toBe(401)
  expect(reply.headers.get('www-authenticate')).toContain(`resource_metadata="${place}"`)
})

/** The status of a request with a token. */
async function statusAt(origin: string, path: string, token: string): Promise<number> {
  const authorization = `Bearer ${token}`
  const stop = new AbortController()
  const { body, headers } = headed('tools/call', { name: 'whoami' })
  const reply = await fetch(origin + path, {
    signal: stop.signal,
    ...(path === '/sse'
      ? { headers: { authorization, accept: 'text/event-stream' } }
      : { method: 'POST', body, headers: { ...headers, authorization } }),
  })
  stop.abort()
  return reply.status
}

test.each([
  ['/mcp', { '/mcp': 200, '/sse': 200 }],
  ['/sse', { '/mcp': 401, '/sse': 200 }],
  ['/ws', { '/mcp': 401, '/sse': 401 }],
  ['/other', { '/mcp': 401, '/sse': 401 }],
  ['', { '/mcp': 401, '/sse': 401 }],
  ['/messages', { '/mcp': 401, '/sse': 401 }],
])('a token for %j is accepted at its own path, and that for /mcp everywhere', async (path, expected) => {
  const { origin, token } = await devSite()
  const given = await token(path)
  const found: Record<string, number> = {}
  for (const at of Object.keys(expected)) found[at] = await statusAt(origin, at, given)
  // Each path knows its own tokens only, whichever was asked first.
  for (const at of Object.keys(expected).toReversed())
    expect(await statusAt(origin, at, given)).toBe(found[at])
  expect(found).toEqual(expected)
})

test('an audience that is listed stays the only one', async () => {
  const dev = await devAuth({ port: 0, resource: 'http://127.0.0.1:3000/mcp' })
  onTestFinished(() => dev.close())
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const settings = { issuer: dev.issuer, resource: `${origin}/mcp` }
  await serve(oauth({ ...settings, audience: 'notes' }), port)
  expect(await statusAt(origin, '/sse', await dev.token({ sub: 'ann', resource: 'notes' }))).toBe(200)
  expect(await statusAt(origin, '/sse', await dev.token({ sub: 'ann', resource: `${origin}/sse` }))).toBe(401)
})

test('questions about one token at two paths have two answers, also at the same time', async () => {
  const origin = 'http://127.0.0.1:3000'
  const dev = await devAuth({ port: 0, resource: `${origin}/mcp` })
  onTestFinished(() => dev.close())
  const token = await dev.token({ sub: 'ann', resource: `${origin}/sse` })
  const main = introspection({ issuer: dev.issuer, resource: `${origin}/mcp`, ...dev.credentials })
  const other = main.at?.(`${origin}/sse`)
  const [atSse, atMcp] = await Promise.all([other?.verify(token), main.verify(token)])
  expect(atSse).toMatchObject({ auth: { sub: 'ann' } })
  expect(atMcp).toMatchObject({ rejected: 'invalid' })
})

test.each([
  [
    'https://mcp.example/team/mcp',
    '/sse?/.well-known/oauth-protected-resource',
    'https://mcp.example/team/sse',
  ],
  ['https://mcp.example/mcp', '/.well-known/oauth-protected-resource/sse', 'https://mcp.example/sse'],
  // A site contains all its paths, and nothing is known about those of a proxy that renames them.
  ['https://mcp.example', '/.well-known/oauth-protected-resource/sse', undefined],
  ['https://mcp.example/api', '/.well-known/oauth-protected-resource/sse', undefined],
])('behind a proxy, with the resource %s, %s is about %s', async (resource, place, found) => {
  const origin = await serve(oauth({ issuer: 'https://id.example', resource }))
  const reply = await fetch(origin + place)
  expect(reply.status).toBe(found === undefined ? 404 : 200)
  const { resource: described } = (await reply.json()) as { readonly resource?: string }
  expect(described).toBe(found)
})
