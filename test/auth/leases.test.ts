import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Hono } from 'hono'
import { serve as serveHono } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { serviceOf } from '../../src/app/app.ts'
import { bearer, type BearerOptions } from '../../src/auth.ts'
import type { App } from '../../src/index.ts'
import type { Auth } from '../../src/rpc/call.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { as, callTool, server } from './server.ts'

/** A caller whose token is good until the test says otherwise. */
class Token {
  auth: (Auth & { readonly sub: string }) | undefined = { sub: 'ann', scopes: [] }
  asked = 0

  method(options: BearerOptions = {}): ReturnType<typeof bearer> {
    return bearer((token) => {
      this.asked++
      return token === 'ann' ? this.auth : token === 'bob' ? { sub: 'bob' } : undefined
    }, options)
  }

  /** Makes it expire soon. */
  expireSoon(): void {
    this.auth = { sub: 'ann', scopes: [], expiresAt: Date.now() / 1000 + 0.7 }
  }
}

/** A server with a tool that reports progress and then waits for its client to leave. */
function waiting(auth: ReturnType<typeof bearer>): {
  readonly app: App
  readonly started: () => number
  readonly stopped: () => number
} {
  let started = 0
  let stopped = 0
  const app = server(auth).tool('wait', {}, async (_, { progress, signal }) => {
    started++
    progress(1)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    stopped++
    return 'stopped'
  }) as unknown as App
  return { app, started: () => started, stopped: () => stopped }
}

interface Opened {
  /** Resolves when the server has ended the stream or connection, with its close code if it has one. */
  readonly ended: Promise<number | undefined>
}

type Open = (url: string, token: string) => Promise<Opened>

async function untilEnd(reply: Response): Promise<Opened> {
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel())
  const read = async (): Promise<undefined> => {
    while (!(await reader.read()).done);
    return undefined
  }
  return { ended: read() }
}

async function openSession(url: string, token: string): Promise<Record<string, string>> {
  const headers = { ...BOTH, ...as(token) }
  const opened = await fetch(url, { method: 'POST', body: initialize(), headers })
  const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') as string }
  await opened.text()
  await fetch(url, { method: 'POST', body: message('notifications/initialized'), headers: session })
  return session
}

const STREAMS: Readonly<Record<string, Open>> = {
  'the stream of a session': async (url, token) => {
    const session = await openSession(url, token)
    return untilEnd(await fetch(url, { headers: { ...session, accept: 'text/event-stream' } }))
  },
  'the stream of a request': async (url, token) => {
    const session = await openSession(url, token)
    const body = call('wait', {}, 2, { progressToken: 1 })
    return untilEnd(await fetch(url, { method: 'POST', body, headers: session }))
  },
  'the stream of a request at 2026-07-28': async (url, token) => {
    const { body, headers } = headed('tools/call', { name: 'wait', _meta: { progressToken: 1 } })
    return untilEnd(await fetch(url, { method: 'POST', body, headers: { ...headers, ...as(token) } }))
  },
  'subscriptions/listen': async (url, token) => {
    const { body, headers } = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    return untilEnd(await fetch(url, { method: 'POST', body, headers: { ...headers, ...as(token) } }))
  },
  'HTTP+SSE': async (url, token) =>
    untilEnd(
      await fetch(url.replace(/\/mcp$/, '/sse'), { headers: { accept: 'text/event-stream', ...as(token) } }),
    ),
}

async function openSocket(url: string, token: string): Promise<Opened> {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: as(token) })
  onTestFinished(() => socket.terminate())
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return { ended: new Promise((resolve) => socket.once('close', resolve)) }
}

type Serve = (app: App) => Promise<string>

const SERVERS: Readonly<Record<string, Serve>> = {
  'our listener': async (app) => {
    const running = await app.listen({ http: { port: 0, sse: true }, ws: true, onUncaught: 'exit' })
    onTestFinished(() => app.close())
    return running.url as string
  },
  'app.node in Express': async (app) => {
    const http = createHttp(express().use(app.node({ sse: true }))).listen(0, '127.0.0.1')
    await new Promise((resolve) => http.once('listening', resolve))
    onTestFinished(async () => {
      await app.close()
      http.close()
    })
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  },
  'app.fetchWith in Hono': async (app) => {
    const handle = app.fetchWith({ sse: true })
    const web = new Hono().all('*', (context) => handle(context.req.raw))
    const port = await new Promise<number>((resolve) => {
      const http = serveHono({ fetch: web.fetch, port: 0, hostname: '127.0.0.1' }, (info) =>
        resolve(info.port),
      )
      onTestFinished(async () => {
        await app.close()
        http.close()
      })
    })
    return `http://127.0.0.1:${port}/mcp`
  },
}

const ALL = Object.entries(SERVERS).flatMap(([where, serve]) =>
  Object.entries(where === 'our listener' ? { ...STREAMS, WebSocket: openSocket } : STREAMS).map(
    ([what, open]) => [what, where, serve, open] as const,
  ),
)

describe.each(ALL)('%s on %s', (what, _, serve, open) => {
  const code = what === 'WebSocket' ? 4401 : undefined

  test('ends when its token expires', async () => {
    const token = new Token()
    const { app } = waiting(token.method())
    const url = await serve(app)
    token.expireSoon()
    const { ended } = await open(url, 'ann')
    expect(await ended).toBe(code)
    expect(serviceOf(app).leases.size).toBe(0)
    expect((await callTool(url, 'who', as('ann'))).status).toBe(401)
  })

  test('ends when its caller is revoked, and those of others go on', async () => {
    const token = new Token()
    const { app } = waiting(token.method())
    const url = await serve(app)
    const { ended } = await open(url, 'ann')
    const other = await open(url, 'bob')
    void app.revoke({ sub: 'ann', issuer: 'https://elsewhere.example' })
    token.auth = undefined
    void app.revoke({ sub: 'ann' })
    expect(await ended).toBe(code)
    expect((await callTool(url, 'who', as('ann'))).status).toBe(401)
    expect(
      await Promise.race([
        other.ended.then(() => 'ended'),
        callTool(url, 'who', as('bob')).then(() => 'open'),
      ]),
    ).toBe('open')
  })

  test('ends when its token is checked again and no longer accepted', async () => {
    const token = new Token()
    const { app } = waiting(token.method({ recheck: 500 }))
    const url = await serve(app)
    const { ended } = await open(url, 'ann')
    token.auth = undefined
    expect(await ended).toBe(code)
  })
})

/** Ways to call the tool that waits. */
const CALLS: Readonly<Record<string, (url: string, token: string) => Promise<unknown>>> = {
  'a request of a session with a stream': STREAMS['the stream of a request'] as Open,
  'a request of a session without a stream': async (url, token) => {
    const headers = await openSession(url, token)
    return void fetch(url, { method: 'POST', body: call('wait'), headers }).catch(() => undefined)
  },
  'a request at 2026-07-28 with a stream': STREAMS['the stream of a request at 2026-07-28'] as Open,
  'a request at 2026-07-28 without a stream': async (url, token) => {
    const { body, headers } = headed('tools/call', { name: 'wait' })
    const all = { ...headers, ...as(token) }
    return void fetch(url, { method: 'POST', body, headers: all }).catch(() => undefined)
  },
}

describe.each(Object.entries(SERVERS))('on %s', (_, serve) => {
  test.each(Object.entries(CALLS))('%s is cancelled when its caller is revoked', async (_name, open) => {
    const { app, started, stopped } = waiting(new Token().method())
    const url = await serve(app)
    await open(url, 'ann')
    await open(url, 'bob')
    await expect.poll(started).toBe(2)
    void app.revoke({ sub: 'ann', issuer: 'https://elsewhere.example' })
    expect(stopped()).toBe(0)
    void app.revoke({ sub: 'ann' })
    await expect.poll(stopped).toBe(1)
    await callTool(url, 'who', as('bob'))
    expect(stopped()).toBe(1)
  })
})

test('a request of a session goes on when its token expires, and the reply waits for its client', async () => {
  const token = new Token()
  const { app, stopped } = waiting(token.method())
  const url = await (SERVERS['our listener'] as Serve)(app)
  token.expireSoon()
  await (
    await (STREAMS['the stream of a request'] as Open)(url, 'ann')
  ).ended
  expect(stopped()).toBe(0)
})

test('a request at 2026-07-28 whose token expires is cancelled', async () => {
  const token = new Token()
  const { app, stopped } = waiting(token.method())
  const url = await (SERVERS['our listener'] as Serve)(app)
  token.expireSoon()
  await (
    await (STREAMS['the stream of a request at 2026-07-28'] as Open)(url, 'ann')
  ).ended
  await expect.poll(stopped).toBe(1)
})

test('a caller with a new token resumes the stream of a request that outlived its old token', async () => {
  let isGood = true
  const expiresAt = Date.now() / 1000 + 0.7
  const auth = bearer((token) =>
    token === 'old' ? { sub: 'ann', expiresAt } : token === 'new' && isGood ? { sub: 'ann' } : undefined,
  )
  let answer: () => void = () => undefined
  const app = server(auth).tool('slow', {}, async (_, { progress }) => {
    progress(1)
    await new Promise<void>((resolve) => (answer = resolve))
    return 'done'
  }) as unknown as App
  const url = await (SERVERS['our listener'] as Serve)(app)
  const session = await openSession(url, 'old')
  const first = await fetch(url, {
    method: 'POST',
    body: call('slow', {}, 2, { progressToken: 1 }),
    headers: session,
  })
  const text = await first.text()
  const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] as string
  const headers = { ...session, ...as('new'), accept: 'text/event-stream', 'last-event-id': last }
  const resumed = await fetch(url, { headers })
  answer()
  expect(await resumed.text()).toContain('done')
  isGood = false
})

test('verify is asked again after a revocation, and decides', async () => {
  const token = new Token()
  const { app } = waiting(token.method())
  const url = await (SERVERS['our listener'] as Serve)(app)
  expect((await callTool(url, 'who', as('ann'))).status).toBe(200)
  expect((await callTool(url, 'who', as('ann'))).status).toBe(200)
  expect(token.asked).toBe(1)
  void app.revoke({ sub: 'ann' })
  expect((await callTool(url, 'who', as('ann'))).status).toBe(200)
  expect((await callTool(url, 'who', as('ann'))).status).toBe(200)
  expect(token.asked).toBe(2)
})

test('a revocation while a token is being verified makes it be verified again', async () => {
  const asked: ((auth: Auth | undefined) => void)[] = []
  const { app } = waiting(bearer(() => new Promise((resolve) => asked.push(resolve))))
  const url = await (SERVERS['our listener'] as Serve)(app)
  const reply = callTool(url, 'who', as('ann'))
  await expect.poll(() => asked.length).toBe(1)
  void app.revoke({ sub: 'ann' })
  asked[0]?.({ sub: 'ann' })
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.(undefined)
  expect((await reply).status).toBe(401)
})

test('tokens that were issued before a revocation are rejected, those issued later are accepted', async () => {
  const seconds = Math.floor(Date.now() / 1000)
  const issued = new Map([
    ['old', seconds - 10],
    ['later', seconds + 10],
  ])
  const method = bearer(() => undefined)
  const auth = {
    ...method,
    verify: (token: string) => {
      const iat = issued.get(token)
      return { auth: { sub: 'ann', claims: iat === undefined ? {} : { iat } } }
    },
  }
  const { app } = waiting(auth)
  const url = await (SERVERS['our listener'] as Serve)(app)
  const statuses = (): Promise<number[]> =>
    Promise.all(
      ['old', 'later', 'unknown'].map(async (token) => (await callTool(url, 'who', as(token))).status),
    )
  expect(await statuses()).toEqual([200, 200, 200])
  void app.revoke({ sub: 'ann' })
  expect(await statuses()).toEqual([401, 200, 401])
})
