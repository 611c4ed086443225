import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { createConnection, createServer as createRelay, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { token } from '../../src/auth-client.ts'
import { Deferred } from '../../src/base/deferred.ts'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { serve } from '../http-client/peer.ts'
import { WAYS } from './ways.ts'

interface Served {
  readonly http: string
  readonly ws: string
  /** Resolves when a tool waits, and lets it go on. */
  readonly waiting: Deferred<() => void>
  /** Reports a change of the note. */
  change(): void
}

/** A server that accepts any token; the user is what comes before the dash. */
async function serveAll(): Promise<Served> {
  const waiting = new Deferred<() => void>()
  const app = createServer({
    name: 'notes',
    version: '1',
    ttl: '1h',
    log: () => undefined,
    auth: bearer((given) => ({ sub: given.split('-')[0] as string })),
  })
    .tool('who', {}, (_, { auth }) => auth?.sub ?? 'nobody')
    .tool('wait', {}, async (_, { auth }) => {
      await new Promise<void>((resolve) => waiting.resolve(resolve))
      return auth?.sub ?? 'nobody'
    })
    .resource('note://mine', {}, (_, { auth }) => `of ${auth?.sub}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0, sse: true }, ws: { port: 0 } })
  onTestFinished(() => running.close())
  const { http = '', ws = '' } = running.addresses
  return { http, ws, waiting, change: () => app.updated('note://mine') }
}

test.each(WAYS)(
  'over %s, calls and reads after a change of the token are those of the new user',
  async (_, transport, options) => {
    const served = await serveAll()
    let current = 'alice'
    await using client = await connect(served[transport], { ...options, auth: token(() => current) })
    const seen = async (): Promise<unknown[]> => [
      await client.call('who'),
      (await client.read('note://mine')).contents[0],
      (await client.read('note://mine')).contents[0],
    ]
    for (const user of ['alice', 'bob', 'alice']) {
      current = user
      const note = expect.objectContaining({ text: `of ${user}` })
      expect(await seen()).toEqual([user, note, note])
    }
  },
)

test.each(WAYS)(
  'over %s, calls of several users at once each run as their own',
  async (_, transport, options) => {
    const served = await serveAll()
    const users = new AsyncLocalStorage<string>()
    await using client = await users.run('user0', () =>
      connect(served[transport], { ...options, auth: token(() => users.getStore() as string) }),
    )
    const all = Array.from({ length: 20 }, (__, at) => `user${at % 4}`)
    const work = async (): Promise<unknown> => [
      await client.call('who'),
      ((await client.read('note://mine')).contents[0] as { text: string }).text,
    ]
    const found = await Promise.all(all.map((user) => users.run(user, work)))
    expect(found).toEqual(all.map((user) => [user, `of ${user}`]))
  },
)

test.each(WAYS)(
  'over %s, a call that runs while the token changes gets its result',
  async (_, transport, options) => {
    const served = await serveAll()
    let current = 'alice'
    await using client = await connect(served[transport], { ...options, auth: token(() => current) })
    const running = client.call('wait')
    const go = await served.waiting.promise
    current = 'bob'
    expect(await client.call('who')).toBe('bob')
    go()
    expect(await running).toBe('alice')
  },
)

test.each(WAYS)(
  'over %s, a function that gives another token for each request works',
  async (_, transport, options) => {
    const served = await serveAll()
    let count = 0
    await using client = await connect(served[transport], {
      ...options,
      auth: token(() => `alice-${++count}`),
    })
    const changed = new Deferred<void>()
    const end = await client.subscribe('note://mine', () => changed.resolve())
    for (const __ of [1, 2]) expect(await client.call('who')).toBe('alice')
    expect(await Promise.all([client.call('who'), client.call('who')])).toEqual(['alice', 'alice'])
    served.change()
    await changed.promise
    await end()
  },
)

test.each(WAYS)('over %s, a subscription goes on as the new user', async (_, transport, options) => {
  const served = await serveAll()
  let current = 'alice'
  await using client = await connect(served[transport], { ...options, auth: token(() => current) })
  let changes = 0
  let changed = new Deferred<void>()
  const end = await client.subscribe('note://mine', () => {
    changes++
    changed.resolve()
  })
  current = 'bob'
  await client.call('who')
  // Everything watched counts as changed once the new subscription is confirmed.
  await changed.promise
  changed = new Deferred()
  served.change()
  await changed.promise
  expect(changes).toBe(2)
  await end()
})

test('a session that the server does not bind to its user is not used by another', async () => {
  const shown: string[] = []
  const streams: ServerResponse[] = []
  const { url } = await serve(({ verb, headers, message: { id, method } }, response) => {
    const { authorization = '', 'mcp-session-id': session } = headers
    if (verb === 'GET')
      return void streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    if (id === undefined) return void response.writeHead(202).end()
    if (method !== 'initialize') shown.push(`${authorization} ${String(session)}`)
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'x', version: '1' },
          }
        : { content: [] }
    const own = { 'content-type': 'application/json', 'mcp-session-id': `of-${authorization.slice(7)}` }
    response.writeHead(200, own).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  let current = 'alice'
  await using client = await connect(url, { revision: '2025-06-18', auth: token(() => current) })
  await client.call('cart')
  await expect.poll(() => streams.length).toBe(1)
  const closed = new Promise((resolve) => streams[0]?.once('close', resolve))
  streams[0]?.flushHeaders()
  current = 'bob'
  await client.call('cart')
  await client.call('cart')
  expect(shown).toEqual(['Bearer alice of-alice', 'Bearer bob of-bob', 'Bearer bob of-bob'])
  await closed
})

test('at 2026-07-28 a stream that listens for one user ends when another calls', async () => {
  const shown: string[] = []
  const streams: ServerResponse[] = []
  const { url } = await serve(({ headers, message: { id, method } }, response) => {
    const answer = (result: object): unknown =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result },
        }),
      )
    if (method === 'server/discover')
      return void answer({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: { subscribe: true } },
      })
    if (method !== 'subscriptions/listen') return void answer({ content: [] })
    shown.push(String(headers.authorization))
    streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    const params = {
      notifications: { resourceSubscriptions: ['inbox:/'] },
      _meta: { 'io.modelcontextprotocol/subscriptionId': id },
    }
    const acknowledged = 'notifications/subscriptions/acknowledged'
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: acknowledged, params })}\n\n`)
  })
  let current = 'alice'
  await using client = await connect(url, { auth: token(() => current) })
  const changed = new Deferred<void>()
  const end = await client.subscribe('inbox:/', () => changed.resolve())
  const closed = new Promise((resolve) => streams[0]?.once('close', resolve))
  current = 'bob'
  await client.call('x')
  await Promise.all([closed, changed.promise])
  expect(shown).toEqual(['Bearer alice', 'Bearer bob'])
  await end()
})

test('the WebSocket of the former user closes', async () => {
  const served = await serveAll()
  const target = new URL(served.ws)
  const { port, hostname } = target
  const closed: Promise<void>[] = []
  const relay = createRelay((socket) => {
    const onward = createConnection(Number(port), hostname)
    closed.push(new Promise((resolve) => onward.once('close', () => resolve())))
    for (const each of [socket, onward]) each.on('error', () => undefined)
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void relay.close())
  target.port = String((relay.address() as AddressInfo).port)
  let current = 'alice'
  await using client = await connect(target, { auth: token(() => current) })
  const end = await client.subscribe('note://mine', () => undefined)
  current = 'bob'
  expect(await client.call('who')).toBe('bob')
  await closed[0]
  expect(closed).toHaveLength(2)
  await end()
})

test('over WebSocket, calls and notifications of several users at once all work, and a watch goes on', async () => {
  const served = await serveAll()
  const users = new AsyncLocalStorage<string>()
  const limits = { reconnectFirstMs: 1, reconnectMaxMs: 2 }
  const auth = token(() => users.getStore() ?? 'user0')
  await using client = await connect(served.ws, { auth, limits })
  let watched: unknown = 'goes on'
  const watching = (async () => {
    for await (const _ of client.watch({ tools: true })) continue
  })().then(
    () => (watched = 'ended'),
    (error: unknown) => (watched = error),
  )
  for (let round = 0; round < 10; round++) {
    const work = ['user0', 'user1', 'user0', 'user2'].map((user) =>
      users.run(user, () => Promise.all([client.call('who'), client.notify('notifications/x')])),
    )
    const seen = await Promise.all(work)
    expect(seen.map(([user]) => user)).toEqual(['user0', 'user1', 'user0', 'user2'])
  }
  expect(watched).toBe('goes on')
  await client.close()
  expect(await watching).toBe('ended')
})
