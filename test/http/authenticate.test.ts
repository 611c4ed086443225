import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { serviceOf } from '../../src/app/app.ts'
import { toLimits } from '../../src/base/limits.ts'
import { RESOURCE_DENIED } from '../../src/errors/server.ts'
import { mcpError } from '../../src/errors/error.ts'
import { createServer } from '../../src/index.ts'
import type { Authenticator } from '../../src/transport/http/server/authenticate.ts'
import { Endpoint } from '../../src/transport/http/server/endpoint.ts'
import { serveFetch } from '../../src/transport/http/server/fetch.ts'
import { listenHttp } from '../../src/transport/http/server/listen.ts'
import { serveWs } from '../../src/transport/ws/server.ts'
import { headed } from './messages.ts'
import { begin, send } from './wire.ts'

const CHALLENGE = {
  error: mcpError(RESOURCE_DENIED, { uri: 'x' }),
  headers: { 'www-authenticate': 'Bearer realm="mcp"' },
}

/** Knows one token, and finds out about it asynchronously. */
const byToken: Authenticator = async (head) => {
  await new Promise((resolve) => setImmediate(resolve))
  const token = head.header('authorization')
  if (token === 'Bearer broken') throw new Error('the directory is down')
  return token === 'Bearer good' ? { auth: { sub: 'ann' } } : CHALLENGE
}

const reports: string[] = []

function endpointOf(authenticate?: Authenticator): Endpoint {
  const log = (_level: string, _text: string, facts: { readonly error?: unknown } = {}): void =>
    void reports.push(JSON.stringify(facts.error))
  const app = createServer({ name: 'x', version: '1', log })
  app.tool('who', {}, (_, { auth }) => auth?.sub ?? 'nobody')
  const options = {
    limits: toLimits({ headersMs: 500 }),
    hosts: ['loopback'],
    cors: [],
    sessions: true,
    ...(authenticate && {
      authentication: { authenticate, challenge: () => ({}), document: () => undefined },
    }),
  }
  return new Endpoint(serviceOf(app), options)
}

async function serve(authenticate: Authenticator): Promise<{ port: number; url: string }> {
  const server = await listenHttp(endpointOf(authenticate), { host: '127.0.0.1', port: 0, path: '/mcp' })
  server.upgrade('/mcp', await serveWs(server.upgrades))
  onTestFinished(() => server.close())
  return { port: server.port, url: server.url.replace('http', 'ws') }
}

const { body, headers } = headed('tools/call', { name: 'who' })
const as = (token: string): Record<string, string> => ({ ...headers, authorization: `Bearer ${token}` })

test('the caller is established before the request is answered', async () => {
  const { port } = await serve(byToken)
  const reply = await send(port, { body, headers: as('good') })
  expect(reply.json).toMatchObject({ result: { content: [{ text: 'ann' }] } })
})

test('a challenge is the reply, with its headers, and the body is not read', async () => {
  const { port } = await serve(byToken)
  const response = await begin(port, { body: 'x'.repeat(1000), headers: as('bad') })
  expect(response.headers['www-authenticate']).toBe('Bearer realm="mcp"')
  response.resume()
})

test('an authenticator that fails rejects every caller, and reveals nothing', async () => {
  const { port } = await serve(byToken)
  const reply = await send(port, { body, headers: as('broken') })
  expect(reply.text).toContain('internal error (reference ')
  expect(reply.text).not.toContain('directory')
})

test('it may also answer at once', async () => {
  const { port } = await serve(() => ({ auth: { sub: 'bob' } }))
  const reply = await send(port, { body, headers })
  expect(reply.json).toMatchObject({ result: { content: [{ text: 'bob' }] } })
})

test('web requests are asked the same, and an identity that the framework passes does not replace the answer', async () => {
  const fetch = serveFetch(endpointOf(byToken))
  const ask = (more: Record<string, string>): Request =>
    new Request('http://localhost/mcp', { method: 'POST', body, headers: more })
  expect(await (await fetch(ask(as('good')))).json()).toMatchObject({
    result: { content: [{ text: 'ann' }] },
  })
  expect((await fetch(ask(as('bad')))).headers.get('www-authenticate')).toBe('Bearer realm="mcp"')
  const passed = await fetch(ask(as('bad')), { auth: { sub: 'eve' } })
  expect(passed.headers.get('www-authenticate')).toBe('Bearer realm="mcp"')
  const known = serveFetch(endpointOf())
  expect(await (await known(ask(headers), { auth: { sub: 'eve' } })).json()).toMatchObject({
    result: { content: [{ text: 'eve' }] },
  })
})

test('the authenticator is not asked about a page that may not connect', async () => {
  const asked: (string | undefined)[] = []
  const { url, port } = await serve((head) => {
    asked.push(head.header('origin'))
    return { auth: { sub: 'ann' } }
  })
  const socket = new WebSocket(url, { origin: 'https://evil.example' })
  const refused = await new Promise<IncomingMessage>((resolve) =>
    socket.once('unexpected-response', (_request, response) => resolve(response)),
  )
  refused.destroy()
  const posted = await send(port, { body, headers: { ...headers, origin: 'https://evil.example' } })
  expect([refused.statusCode, posted.status, asked]).toEqual([403, 403, []])
})

test('WebSocket connections are asked before they are accepted', async () => {
  const { url } = await serve(byToken)
  const good = new WebSocket(url, { headers: { authorization: 'Bearer good' } })
  onTestFinished(() => good.terminate())
  await new Promise((resolve) => good.once('open', resolve))
  const answered = new Promise((resolve) =>
    good.once('message', (data: Buffer) => resolve(JSON.parse(String(data)))),
  )
  good.send(body)
  expect(await answered).toMatchObject({ result: { content: [{ text: 'ann' }] } })
  const bad = new WebSocket(url, { headers: { authorization: 'Bearer bad' } })
  const refused = await new Promise<IncomingMessage>((resolve) =>
    bad.once('unexpected-response', (_request, response) => resolve(response)),
  )
  expect(refused.headers['www-authenticate']).toBe('Bearer realm="mcp"')
  refused.destroy()
})

/** Asks over HTTP, with a web request and over WebSocket, and gives the status of each reply and its headers. */
async function askEverywhere(
  authenticate: Authenticator,
): Promise<readonly (readonly [number | undefined, object])[]> {
  const { port, url } = await serve(authenticate)
  const posted = await send(port, { body, headers })
  const web = new Request('http://localhost/mcp', { method: 'POST', body, headers })
  const fetched = await serveFetch(endpointOf(authenticate))(web)
  const upgraded = await new Promise<IncomingMessage>((resolve) =>
    new WebSocket(url).once('unexpected-response', (_request, response) => resolve(response)),
  )
  upgraded.destroy()
  return [
    [posted.status, posted.headers],
    [fetched.status, Object.fromEntries(fetched.headers)],
    [upgraded.statusCode, upgraded.headers],
  ]
}

test.each([
  ['a line break in a value', { 'www-authenticate': 'Bearer\r\nset-cookie: a=b' }],
  ['a control character in a value', { 'www-authenticate': 'Bearer \u0001' }],
  ['a value outside Latin-1', { 'www-authenticate': 'Bearer realm="漢"' }],
  ['a name that is none', { 'www authenticate': 'Bearer' }],
])('a challenge with %s rejects the caller, is reported and never reaches the wire', async (_, wrong) => {
  reports.length = 0
  const replies = await askEverywhere(() => ({ ...CHALLENGE, headers: { ...CHALLENGE.headers, ...wrong } }))
  expect(replies.map(([status]) => status)).toEqual([500, 500, 500])
  for (const [, all] of replies) {
    expect(all).not.toHaveProperty('www-authenticate')
    expect(all).not.toHaveProperty('set-cookie')
  }
  expect(reports).toHaveLength(3)
  expect(reports.every((report) => report.includes('www') && report.includes('header'))).toBe(true)
})

test('limits.headersMs an authenticator that never answers rejects the caller', async () => {
  reports.length = 0
  const replies = await askEverywhere(() => new Promise(() => undefined))
  expect(replies.map(([status]) => status)).toEqual([500, 500, 500])
  expect(reports.join()).toContain('500 ms')
})

test('one that fails after its time harms nothing', async () => {
  let fail: (error: Error) => void = () => undefined
  const { port } = await serve(() => new Promise((_, reject) => (fail = reject)))
  expect((await send(port, { body, headers })).status).toBe(500)
  fail(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))
})
