import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { connect, connectAll, createClient, type Client } from '../../src/client.ts'
import { health, toolStream } from '../../src/extensions.ts'
import { listenFor } from '../../src/extensions/listen-for.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { CAPABILITIES, scripted, spoken, type Peer, type Scripted } from './scripted.ts'

const LATEST = '2026-07-28'
const URI = 'x://y'

/** Modules that load on demand, which does not take part in the fake time. */
beforeAll(async () => {
  await import('../../src/client/known-tools.ts')
  await import('../../src/client/call-again.ts')
  await import('../../src/client/unfinished.ts')
  await import('../../src/client/rounds.ts')
  await import('../../src/client/handshake.ts')
  await import('../../src/errors/remote.ts')
  await import('../../src/client/answers.ts')
  await import('../../src/client/watch.ts')
  await import('../../src/client/checking.ts')
  await import('../../src/client/check-input.ts')
  await import('../../src/client/recovery.ts')
  await import('../../src/app/connect/watch-all.ts')
})
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const TOOL = { name: 'pay', inputSchema: { type: 'object', required: ['sum'] } }
let pages = 0

/** A page after which another follows. */
function page(more: JsonObject = {}): JsonObject {
  return {
    resultType: 'complete',
    tools: [],
    resources: [],
    nextCursor: `c${pages++}`,
    ttlMs: 0,
    cacheScope: 'private',
    ...more,
  }
}

function later(ms: number, peer: Peer, result: () => JsonObject): true {
  setTimeout(() => peer.reply(result()), ms)
  return true
}

/** A server whose lists do not end, with a page every 700 ms. */
function endless(): Scripted {
  return scripted(LATEST, ({ method }, peer) => {
    if (method === 'tools/call') peer.refuse(-32020, 'header mismatch')
    if (method?.endsWith('/list') === true) return later(700, peer, page)
    return method === 'tools/call'
  })
}

/** A server with a tool and a resource. */
function quick(): Scripted {
  return scripted(LATEST, ({ method }, peer) => {
    const result = {
      'tools/list': { tools: [TOOL] },
      'resources/list': { resources: [{ uri: URI, name: 'y' }] },
      'resources/read': { contents: [{ uri: URI, text: 'read' }] },
    }[method ?? '']
    if (result !== undefined)
      peer.reply({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result })
    return result !== undefined
  })
}

/** What a promise has become after this much time. */
async function after(ms: number, promise: Promise<unknown>): Promise<unknown> {
  let outcome: unknown = 'pending'
  promise.then(
    (value) => (outcome = value),
    (error: unknown) => (outcome = error),
  )
  await vi.advanceTimersByTimeAsync(ms)
  return outcome
}

async function gather(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const item of items) all.push(item)
  return all
}

function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), ms)
  return controller.signal
}

test.each<[string, (client: Client, limits: object) => Promise<unknown>]>([
  ['ping', (client, limits) => client.ping(limits)],
  ['a method of an extension', (client, limits) => health.of(client).status({}, limits)],
  ['a stream of a tool', (client, limits) => toolStream.of(client).stream('t', {}, limits).next()],
])('%s waits for the connection no longer than its own limits allow', async (_, send) => {
  await using client = createClient(
    scripted(LATEST, () => true),
    { extensions: [health, toolStream] },
  )
  client.open().catch(() => undefined)
  expect(await after(301, send(client, { timeout: 300 }))).toMatchObject({ kind: 'timeout' })
  expect(await after(301, send(client, { timeout: '1s', total: 300 }))).toMatchObject({ kind: 'timeout' })
  expect(await after(301, send(client, { signal: abortAfter(300) }))).toMatchObject({ kind: 'cancelled' })
})

test('the total timeout of a call covers listing the tools again', async () => {
  await using client = await connect(endless())
  const call = client.call('pay', {}, { timeout: '1s', total: '2s' })
  expect(await after(1990, call)).toBe('pending')
  expect(await after(20, call)).toMatchObject({
    kind: 'timeout',
    message: expect.stringContaining('2000 ms'),
  })
})

test('the signal of a call ends listing the tools again', async () => {
  await using client = await connect(endless())
  const call = client.call('pay', {}, { signal: abortAfter(1000) })
  expect(await after(1001, call)).toMatchObject({ kind: 'cancelled' })
})

test('the total timeout of a call covers listing the tools before its arguments are rejected', async () => {
  let lists = 0
  const server = scripted(LATEST, ({ method }, peer) => {
    if (method !== 'tools/list') return false
    if (lists++ > 0) return later(700, peer, page)
    peer.reply({ ...page({ tools: [TOOL] }), nextCursor: undefined })
    return true
  })
  await using client = await connect(server, { checkInput: true })
  expect(await after(0, gather(client.tools()))).toHaveLength(1)
  expect(await after(2001, client.call('pay', {}, { total: '2s' }))).toMatchObject({ kind: 'timeout' })
})

test('the total timeout covers all steps of connecting', async () => {
  const server = scripted('2025-11-25', ({ method, id }, peer) => {
    if (method === 'server/discover')
      setTimeout(() => peer.send({ id, error: { code: -32601, message: 'no' } }), 700)
    return method === 'server/discover' || method === 'initialize'
  })
  const failed = connect(server, { timeout: 900, total: 1000 }).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(1100)
  expect(await failed).toMatchObject({
    kind: 'timeout',
    message: 'connect was not answered within 1000 ms',
  })
  expect(server.closed).toBe(1)
})

test('the total timeout of connecting covers the attempt without the remembered handshake', async () => {
  let isLate = false
  const fetch = async (_: unknown, { body }: RequestInit = {}): Promise<Response> => {
    const { id, method } = JSON.parse((body ?? '{}') as string) as { id?: number; method?: string }
    if (isLate) await new Promise((resolve) => setTimeout(resolve, 700))
    if (id === undefined) return new Response(null, { status: method === undefined ? 405 : 202 })
    const opening = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: 's', version: '1' },
    }
    const reply =
      isLate || method !== 'initialize' ? { error: { code: -32601, message: 'no' } } : { result: opening }
    return Response.json({ jsonrpc: '2.0', id, ...reply }, { status: 'error' in reply ? 400 : 200 })
  }
  const limits = { timeout: '1s', total: '1s', fetch: fetch as typeof globalThis.fetch } as const
  await (await connect('http://remembered.example/mcp', limits)).close()
  isLate = true
  const failed = connect('http://remembered.example/mcp', limits)
  expect(await after(1001, failed)).toMatchObject({ kind: 'timeout' })
})

test('the total timeout of a list covers all its pages', async () => {
  await using client = await connect(endless(), { total: '3s' })
  expect(await after(2001, gather(client.tools({ total: '2s' })))).toMatchObject({ kind: 'timeout' })
  expect(await after(3001, gather(client.resources()))).toMatchObject({ kind: 'timeout' })
})

test('the time that the caller takes for the items of a list does not count', async () => {
  let left = 3
  const server = scripted(LATEST, ({ method }, peer) => {
    if (method !== 'tools/list') return false
    left--
    peer.reply(page({ tools: [{ ...TOOL, name: `t${left}` }], ...(left === 0 && { nextCursor: undefined }) }))
    return true
  })
  await using client = await connect(server)
  const names = (async () => {
    const all: string[] = []
    for await (const { name } of client.tools({ total: '1s' })) {
      all.push(name)
      await new Promise((resolve) => setTimeout(resolve, 5000))
    }
    return all
  })()
  expect(await after(15_000, names)).toEqual(['t2', 't1', 't0'])
})

test('the total timeout covers all rounds of a request', async () => {
  const server = scripted(LATEST, ({ method }, peer) =>
    method === 'tools/call'
      ? later(800, peer, () => ({ resultType: 'input_required', requestState: 's' }))
      : false,
  )
  await using client = await connect(server)
  expect(await after(1001, client.call('pay', {}, { total: '1s' }))).toMatchObject({ kind: 'timeout' })
})

test('the total timeout covers the answers to the questions of a request', async () => {
  const inputRequests = { q: { method: 'roots/list', params: {} } }
  const server = scripted(LATEST, ({ method }, peer) => {
    if (method === 'tools/call') peer.reply({ resultType: 'input_required', inputRequests })
    return method === 'tools/call'
  })
  await using client = await connect(server, { answers: { roots: () => new Promise(() => undefined) } })
  expect(await after(1001, client.call('pay', {}, { total: '1s' }))).toMatchObject({ kind: 'timeout' })
})

test('a server of a group whose lists do not end delays the others no longer than the total timeout', async () => {
  await using group = await connectAll({ bad: endless(), good: quick() })
  expect(await after(2001, gather(group.tools({ total: '2s' })))).toMatchObject([{ name: 'good__pay' }])
  expect(await after(2001, gather(group.resources({ total: '2s' })))).toMatchObject([{ uri: URI }])
})

test('the signal of a list of a group ends it with an error', async () => {
  await using group = await connectAll({ bad: endless(), good: quick() })
  expect(await after(1001, gather(group.tools({ signal: abortAfter(1000) })))).toMatchObject({
    kind: 'cancelled',
  })
})

test('the limits of a read of a group apply to the search for the server', async () => {
  await using group = await connectAll({ bad: endless(), good: quick() })
  expect(await after(2001, group.read(URI, { total: '2s' }))).toMatchObject({
    message: expect.stringContaining('bad failed to list resources'),
    cause: { kind: 'timeout' },
  })
  expect(await after(1001, group.read(URI, { signal: abortAfter(1000) }))).toMatchObject({
    kind: 'cancelled',
  })
  expect(await after(0, group.read(URI, { server: 'good' }))).toMatchObject({ contents: [{ text: 'read' }] })
})

test('the limits of a call of a group apply to the search for the name and to the call together', async () => {
  const server = scripted(LATEST, ({ method }, peer) => {
    if (method === 'tools/list')
      return later(700, peer, () => page({ tools: [{ ...TOOL, name: 'pay!' }], nextCursor: undefined }))
    return method === 'tools/call' ? later(700, peer, () => spoken('late')) : false
  })
  await using group = await connectAll({ a: server })
  await using other = await connectAll({ a: server })
  const listed = (await after(700, gather(other.tools()))) as { readonly name: string }[]
  const call = group.call(listed[0]?.name ?? '', {}, { total: '1s' })
  expect(await after(1001, call)).toMatchObject({ kind: 'timeout' })
})

test('the signal of a watch of a group ends the search for the server of a resource', async () => {
  await using group = await connectAll({ bad: endless(), good: quick() })
  const watched = gather(group.watch({ resources: [URI], signal: abortAfter(1000) }))
  expect(await after(1001, watched)).toEqual([])
})

/** A client of a server that never confirms a subscription, or does when it is told to. */
async function unconfirmed(options = {}): Promise<{ readonly client: Client; readonly server: Scripted }> {
  const capabilities = { ...CAPABILITIES, extensions: { 'x/y': {} } }
  const server = scripted(LATEST, ({ method }) => method === 'subscriptions/listen', capabilities)
  return { client: await connect(server, options), server }
}

const listening = ({ method }: { readonly method?: string }): boolean => method === 'subscriptions/listen'

test('a subscription that the server does not confirm fails after the timeout', async () => {
  const { client, server } = await unconfirmed({ timeout: '1s' })
  await using _closing = client
  const error = { kind: 'timeout', message: expect.stringContaining('1000 ms') }
  expect(
    await after(
      1001,
      client.subscribe(URI, () => undefined),
    ),
  ).toMatchObject(error)
  const patient = client.subscribe(URI, () => undefined, { timeout: '3s' })
  expect(await after(2990, patient)).toBe('pending')
  expect(await after(20, patient)).toMatchObject({ kind: 'timeout' })
  const cancelled = server.sent().filter(({ method }) => method === 'notifications/cancelled')
  expect(cancelled).toHaveLength(2)
})

test('a signal ends a subscription, also while the server has not confirmed it', async () => {
  const { client, server } = await unconfirmed()
  await using _closing = client
  const waiting = client.subscribe(URI, () => undefined, { signal: abortAfter(10) })
  expect(await after(11, waiting)).toMatchObject({ kind: 'cancelled' })
  const changes: unknown[] = []
  const subscribing = client.subscribe(URI, (change) => changes.push(change), { signal: abortAfter(1000) })
  await vi.advanceTimersByTimeAsync(1)
  const notifications = { resourceSubscriptions: [URI] }
  server.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications } })
  expect(await after(1, subscribing)).toBeTypeOf('function')
  server.say({ method: 'notifications/resources/updated', params: { uri: URI } })
  await vi.advanceTimersByTimeAsync(2000)
  server.say({ method: 'notifications/resources/updated', params: { uri: URI } })
  await vi.advanceTimersByTimeAsync(1)
  expect(changes).toEqual([{ kind: 'resource', uri: URI }])
  expect(server.sent().filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(2)
})

test('listening for the notices of an extension fails if the server does not confirm it within a minute', async () => {
  const { client, server } = await unconfirmed()
  await using _closing = client
  const notices = listenFor(client, 'x/y', () => undefined)
  await vi.advanceTimersByTimeAsync(1)
  await server.until(listening)
  expect(await after(59_990, notices)).toBe('pending')
  expect(await after(20, notices)).toMatchObject({ kind: 'timeout' })
})
