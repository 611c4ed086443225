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

function endpointOf(authenticate: Authenticator): Endpoint {
  const app = createServer({ name: 'x', version: '1', log: () => undefined })
  app.tool('who', {}, (_, { auth }) => auth?.sub ?? 'nobody')
  const options = { limits: toLimits(), hosts: ['loopback'], cors: [], sessions: true, authenticate }
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

test('web requests are asked the same, unless the framework knows who calls', async () => {
  const fetch = serveFetch(endpointOf(byToken))
  const ask = (more: Record<string, string>): Request =>
    new Request('http://localhost/mcp', { method: 'POST', body, headers: more })
  expect(await (await fetch(ask(as('good')))).json()).toMatchObject({
    result: { content: [{ text: 'ann' }] },
  })
  expect((await fetch(ask(as('bad')))).headers.get('www-authenticate')).toBe('Bearer realm="mcp"')
  const known = await fetch(ask(as('bad')), { auth: { sub: 'eve' } })
  expect(await known.json()).toMatchObject({ result: { content: [{ text: 'eve' }] } })
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
