import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Hono } from 'hono'
import { serve as serveHono } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { bearer } from '../../src/auth.ts'
import { createServer } from '../../src/index.ts'
import { erlmcp } from '../../src/profiles.ts'
import { BOTH, initialize } from '../http/messages.ts'
import { Raw, send } from '../http/wire.ts'
import { as, callTool, listen, people, RESOURCE, server, textOf } from './server.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource'
/** The paths of transports that are not at /mcp. */
const PATHS: Readonly<Record<string, string>> = { 'HTTP+SSE': '/sse', gist: '/gist' }
const options = { resource: RESOURCE, issuers: ['https://id.example'], scopes: ['use'] }

/** Each transport that has callers: how to ask it who calls, with these headers. Gives the status and the challenge. */
type Asked = { readonly status: number; readonly challenge: string | undefined; readonly who?: string }
type Way = (headers: Record<string, string>) => Promise<Asked>

async function read(reply: Response): Promise<Asked> {
  const challenge = reply.headers.get('www-authenticate') ?? undefined
  return reply.ok
    ? { status: reply.status, challenge, who: await textOf(reply) }
    : { status: reply.status, challenge }
}

function upgrade(url: string, headers: Record<string, string>): Promise<Asked> {
  const socket = new WebSocket(url, { headers })
  socket.on('error', () => undefined)
  onTestFinished(() => socket.terminate())
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_, response) =>
      resolve({ status: response.statusCode ?? 0, challenge: response.headers['www-authenticate'] }),
    )
    socket.on('open', () => resolve({ status: 101, challenge: undefined }))
  })
}

const auth = people(options)

const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  'Streamable HTTP': async () => {
    const { url } = await listen(auth)
    return async (headers) => read(await callTool(url, 'who', headers))
  },
  'a session': async () => {
    const { port } = await listen(auth)
    return async (headers) => {
      const { status, headers: got } = await send(port, {
        body: initialize(),
        headers: { ...BOTH, ...headers },
      })
      return { status, challenge: got['www-authenticate'] }
    }
  },
  'HTTP+SSE': async () => {
    const { url } = await listen(auth)
    return async (headers) => {
      const reply = await fetch(new URL('/sse', url), {
        headers: { accept: 'text/event-stream', ...headers },
      })
      await reply.body?.cancel()
      return { status: reply.status, challenge: reply.headers.get('www-authenticate') ?? undefined }
    }
  },
  WebSocket: async () => {
    const { ws } = await listen(auth)
    return (headers) => upgrade(ws, headers)
  },
  'WebSocket on its own port': async () => {
    const app = server(auth)
    const { addresses } = await app.listen({ ws: { port: 0 }, onUncaught: 'exit' })
    onTestFinished(() => app.close())
    return (headers) => upgrade(addresses.ws as string, headers)
  },
  gist: async () => {
    const { url } = await listen(auth)
    return async (headers) => {
      const body = JSON.stringify({ request_id: crypto.randomUUID(), tool_id: 'who', arguments: {} })
      const reply = await fetch(new URL('/gist', url), {
        method: 'POST',
        body,
        headers: { ...BOTH, ...headers },
      })
      return { status: reply.status, challenge: reply.headers.get('www-authenticate') ?? undefined }
    }
  },
  'app.node in Express': async () => {
    const web = express().use('/mcp', server().node({ auth }))
    const http = createHttp(web).listen(0, '127.0.0.1')
    onTestFinished(() => void http.close())
    await new Promise((resolve) => http.once('listening', resolve))
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
    return async (headers) => read(await callTool(url, 'who', headers))
  },
  'app.fetchWith in Hono': async () => {
    const handle = server().fetchWith({ auth })
    const web = new Hono().all('/mcp', (context) => handle(context.req.raw))
    const port = await new Promise<number>((resolve) => {
      const http = serveHono({ fetch: web.fetch, port: 0, hostname: '127.0.0.1' }, (info) =>
        resolve(info.port),
      )
      onTestFinished(() => void http.close())
    })
    return async (headers) => read(await callTool(`http://127.0.0.1:${port}/mcp`, 'who', headers))
  },
}

describe.each(Object.entries(WAYS))('%s', (name, begin) => {
  const isMount = name.startsWith('app.')
  const own = `${METADATA}${PATHS[name] ?? '/mcp'}`
  const metadata = isMount ? `${RESOURCE}?/.well-known/oauth-protected-resource` : own
  const where = `scope="use", resource_metadata="${metadata}"`

  test('without credentials, the reply is 401 with a challenge that has no error', async () => {
    const ask = await begin()
    expect(await ask({})).toEqual({ status: 401, challenge: `Bearer ${where}` })
    expect(await ask({ authorization: 'Basic YW5uOnNlY3JldA==' })).toEqual({
      status: 401,
      challenge: `Bearer ${where}`,
    })
  })

  test('a token that no method accepts gets 401 invalid_token', async () => {
    const ask = await begin()
    const description = 'it is unknown, or meant for another server'
    expect(await ask(as('mallory'))).toEqual({
      status: 401,
      challenge: `Bearer error="invalid_token", error_description="${description}", ${where}`,
    })
  })

  test.each([
    ['an empty token', 'Bearer '],
    ['two tokens', 'Bearer ann bob'],
    ['a list', 'Bearer ann, Bearer bob'],
    ['two schemes', 'Basic YW5u, Bearer ann'],
    ['a character that tokens do not have', 'Bearer a"n'],
  ])('credentials with %s get 400 invalid_request', async (_, authorization) => {
    const ask = await begin()
    const { status, challenge } = await ask({ authorization })
    expect([status, challenge]).toEqual([400, expect.stringContaining('Bearer error="invalid_request"')])
  })

  test('a caller without the base scopes gets 403 insufficient_scope', async () => {
    const ask = await begin()
    expect(await ask(as('eve'))).toEqual({
      status: 403,
      challenge: `Bearer error="insufficient_scope", ${where}`,
    })
  })

  test('a token that is accepted identifies the caller, the first time and later', async () => {
    const ask = await begin()
    for (const token of ['ann', 'ann', 'bob']) {
      const { status, who = token } = await ask(as(token))
      expect([status, who]).toEqual([name.startsWith('WebSocket') ? 101 : 200, token])
    }
  })
})

test.each(['Authorization', 'authorization', 'AUTHORIZATION'])(
  'Authorization and %s get 400, even if both are the same, also on a connection whose token is known',
  async (second) => {
    const { port } = await listen(people())
    const body = initialize()
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${body.length}\r\nAuthorization: Bearer ann\r\n`
    const raw = new Raw(port).write(`${head}\r\n${body}`)
    await raw.until(/"result"/)
    raw.write(`${head}${second}: Bearer ann\r\nConnection: close\r\n\r\n${body}`)
    await raw.gone()
    expect(raw.text).toMatch(/^HTTP\/1.1 200[^]*HTTP\/1.1 400[^]*"code":-32600/)
  },
)

test('a token in the URL is rejected, also next to one in the header', async () => {
  const { url } = await listen(people())
  for (const headers of [{}, as('ann')]) {
    const reply = await callTool(`${url}?access_token=ann`, 'who', headers)
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      400,
      'Bearer error="invalid_request", error_description="the URL contains a token; send it in the Authorization header"',
    ])
  }
})

test('rejections have the refusals of the catalogue', async () => {
  const { url } = await listen(people())
  const refusalOf = async (headers: Record<string, string>): Promise<unknown> =>
    ((await (await callTool(url, 'who', headers)).json()) as { error: { data: { refusal: unknown } } }).error
      .data.refusal
  expect(await refusalOf({})).toMatchObject({ name: 'AUTH_MISSING', code: 1015, httpStatus: 401 })
  expect(await refusalOf(as('mallory'))).toMatchObject({ name: 'AUTH_INVALID_CREDENTIALS', code: 1013 })
})

test('in profile erlmcp, rejections have its numbers, with the same status and challenge [S2-8.2-6]', async () => {
  const past = { sub: 'ann', expiresAt: 1 }
  const auth = bearer((token) => (token === 'old' ? past : undefined), { scopes: ['use'] })
  const app = createServer({ name: 'x', version: '1', profile: erlmcp, auth, log: () => undefined })
  const { url } = await app.listen({ http: { port: 0 }, onUncaught: 'exit' })
  onTestFinished(() => app.close())
  for (const [headers, code] of [
    [{}, -32051],
    [as('old'), -32052],
    [as('mallory'), -32053],
  ] as const) {
    const reply = await fetch(url as string, {
      method: 'POST',
      body: initialize(),
      headers: { ...BOTH, ...headers },
    })
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer /),
    ])
    expect(await reply.json()).toMatchObject({ error: { code } })
  }
})
