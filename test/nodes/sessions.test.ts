import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { endpointsOf, serviceOf } from '../../src/app/app.ts'
import { bearer } from '../../src/auth.ts'
import { createServer, type App } from '../../src/index.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import { send } from '../http/wire.ts'
import { at, startNodes, type TestNode } from './nodes.ts'
import { Stores } from './store.ts'

const SHAKEN = REVISIONS.filter((revision) => revision !== '2026-07-28')
const KEY = { type: 'object', properties: { value: { type: 'string' } } } as const

function define(app: App): void {
  app
    .tool('echo', { input: KEY }, ({ value }) => value ?? '')
    .tool('keep', { input: KEY }, async ({ value }, { session }) => {
      await session?.set('kept', value)
      return 'kept'
    })
    .tool('forget', {}, async (_, { session }) => String(await session?.delete('kept')))
    .tool('kept', {}, async (_, { session }) => String(await session?.get('kept')))
    .tool('who', {}, (_, { client, revision }) => `${client.info?.name} ${revision}`)
    .resource('note://a', {}, () => 'a')
    .tool('speak', {}, (_, { log }) => {
      for (const level of ['debug', 'info', 'error'] as const) log[level](level)
      return 'spoken'
    })
}

const textOf = ({ json }: { readonly json: object }): unknown =>
  (json as { readonly result?: { readonly content: readonly [{ readonly text: string }] } }).result
    ?.content[0].text

async function opened(node: TestNode, revision = '2025-11-25'): Promise<Session> {
  const session = await open(node.port, revision)
  expect((await session.post(message('notifications/initialized'))).status).toBe(202)
  return session
}

describe('a session on several nodes', () => {
  test.each(SHAKEN)('at %s any node answers its calls', async (revision) => {
    const { nodes } = await startNodes({ count: 3, define })
    const session = await open(nodes[0]!.port, revision)
    for (const node of [...nodes, ...nodes]) {
      const reply = await at(node, session).post(call('who'))
      expect([reply.status, textOf(reply)]).toEqual([200, `wire ${revision}`])
    }
  })

  test('values that a handler keeps are there at the next request, at any node', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    await session.post(call('keep', { value: 'a' }))
    expect(textOf(await at(two, session).post(call('kept')))).toBe('a')
    await at(two, session).post(call('keep', { value: 'b' }))
    expect(textOf(await session.post(call('kept')))).toBe('b')
    expect(textOf(await session.post(call('forget')))).toBe('true')
    expect(textOf(await at(two, session).post(call('kept')))).toBe('undefined')
    expect(textOf(await at(two, session).post(call('forget')))).toBe('false')
  })

  test('a log level that one node was told counts at the others', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    await session.post(message('logging/setLevel', { level: 'error' }, 3))
    const { events } = await at(two, session).post(call('speak'))
    const told = events.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data)]))
    expect(told).toMatchObject([{ params: { level: 'error' } }, { result: {} }])
  })

  test('a session that one node was told to end is unknown to all, and its streams end', async () => {
    const { nodes } = await startNodes({ count: 3, define })
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const session = await opened(one)
    const stream = await at(two, session).get()
    expect((await at(three, session).delete()).status).toBe(200)
    await stream.end()
    for (const node of nodes) expect((await at(node, session).post(call('who'))).status).toBe(404)
    expect((await session.delete()).status).toBe(404)
  })

  test('nobody else can use it, at any node', async () => {
    const auth = bearer((token) => (token.length > 2 ? { sub: token, scopes: [] } : undefined))
    const { nodes } = await startNodes({ define, auth })
    const [one, two] = nodes as [TestNode, TestNode]
    const ann = { ...BOTH, authorization: 'Bearer ann' }
    const reply = await send(one.port, { body: initialize(), headers: ann })
    const id = reply.headers['mcp-session-id'] as string
    const headers = { ...ann, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    const stranger = { ...headers, authorization: 'Bearer bob' }
    for (const node of [two, one, two]) {
      expect((await send(node.port, { body: call('who'), headers: stranger })).status).toBe(404)
      expect((await send(node.port, { method: 'DELETE', headers: stranger })).status).toBe(404)
      expect((await send(node.port, { body: call('who'), headers })).status).toBe(200)
    }
  })

  test('an id that no node has given is not even looked up', async () => {
    const { nodes, stores } = await startNodes({ define })
    const headers = { ...BOTH, 'mcp-session-id': '__proto__', 'mcp-protocol-version': '2025-11-25' }
    const steps = await stores.during(async () => {
      expect((await send(nodes[0]!.port, { body: call('who'), headers })).status).toBe(404)
    })
    expect(steps).toEqual([])
  })

  test('a server with another name does not know it', async () => {
    const stores = new Stores()
    const { nodes } = await startNodes({ count: 1, stores, define })
    const other = await startNodes({ count: 1, stores, define, name: 'other' })
    const session = await opened(nodes[0]!)
    expect((await at(other.nodes[0]!, session).post(call('who'))).status).toBe(404)
    expect((await session.post(call('who'))).status).toBe(200)
  })

  test('beyond the limit, the session that was unused for the longest time ends at all nodes', async () => {
    const limits = { sessions: 2 }
    const { nodes, stores } = await startNodes({ define, limits })
    const { sessions } = stores.kinds
    const create = sessions.create.bind(sessions)
    // Otherwise the test would have to wait until the sessions are not fresh any more.
    sessions.create = (session, room) => create(session, { ...room, freshMs: 0 })
    const [one, two] = nodes as [TestNode, TestNode]
    const [first, second] = [await opened(one), await opened(two)]
    expect((await at(one, second).post(call('who'))).status).toBe(200)
    const third = await opened(two)
    expect((await first.post(call('who'))).status).toBe(404)
    expect((await at(two, first).post(call('who'))).status).toBe(404)
    for (const session of [second, third])
      for (const node of nodes) expect((await at(node, session).post(call('who'))).status).toBe(200)
  })
})

test('sessions that have ended leave nothing behind, at any node', async () => {
  const { nodes, stores } = await startNodes({ define })
  const [one, two] = nodes as [TestNode, TestNode]
  const sessions = await Promise.all(Array.from({ length: 20 }, () => opened(one)))
  for (const session of sessions) {
    await session.post(message('resources/subscribe', { uri: 'note://a' }, 3))
    await at(two, session).post(call('keep', { value: 'a' }))
    await (await at(two, session).get()).until(({ events }) => events.length > 0)
  }
  one.app.updated('note://a')
  for (const session of sessions) expect((await session.delete()).status).toBe(200)
  const left = (): readonly number[] =>
    nodes.flatMap(({ app }) => [
      serviceOf(app).changes.listeners,
      ...[...endpointsOf(app)].map((endpoint) => endpoint.sessions.size),
    ])
  await expect.poll(left).toEqual([0, 0, 0, 0])
  expect(await stores.kinds.sessions.count()).toBe(0)
  const streams = (): readonly unknown[] =>
    sessions.map(({ id }) => stores.kinds.events.read(id, 's', -1, 1)).filter((page) => page !== undefined)
  await expect.poll(streams).toEqual([])
})

describe('exchanges with the store', () => {
  test('a request costs one exchange, at a node that knows the session and at one that does not', async () => {
    const { nodes, stores } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await open(one.port)
    const steps = (node: TestNode, body: string): Promise<readonly string[]> =>
      stores.during(() => at(node, session).post(body))
    expect(await stores.during(() => open(one.port))).toEqual(['sessions.create'])
    expect(await steps(one, message('notifications/initialized'))).toEqual([
      'sessions.use',
      'sessions.change',
    ])
    for (const node of [two, two, one, one]) expect(await steps(node, call('who'))).toEqual(['sessions.use'])
  })

  test('a request that changes the session costs another one', async () => {
    const { nodes, stores } = await startNodes({ define })
    const session = await opened(nodes[0]!)
    const steps = await stores.during(() => session.post(call('keep', { value: 'a' })))
    expect(steps).toEqual(['sessions.use', 'sessions.change'])
    expect(await stores.during(() => session.post(call('kept')))).toEqual(['sessions.use'])
    const subscribe = message('resources/subscribe', { uri: 'note://a' }, 3)
    const subscribing = await stores.during(() => session.post(subscribe))
    expect(subscribing).toEqual(['sessions.use', 'sessions.change', 'changes.publish'])
    const again = await stores.during(() => session.post(subscribe))
    expect(again).toEqual(['sessions.use'])
  })

  test('a message for another node costs another one', async () => {
    const { nodes, stores } = await startNodes({ define })
    const session = await opened(nodes[0]!)
    const cancelled = message('notifications/cancelled', { requestId: 99 })
    const steps = await stores.during(() => at(nodes[1]!, session).post(cancelled))
    expect(steps).toEqual(['sessions.use', 'changes.publish'])
    const answer = JSON.stringify({ jsonrpc: '2.0', id: 5, result: {} })
    expect(await stores.during(() => session.post(answer))).toEqual(['sessions.use'])
  })

  test('a request without a session costs none, and is answered while the store is away', async () => {
    const { nodes, stores } = await startNodes({ define })
    const [one] = nodes as [TestNode, TestNode]
    one.view.isAway = true
    const steps = await stores.during(async () => {
      const reply = await send(one.port, headed('tools/call', { name: 'who', arguments: {} }))
      expect(textOf(reply)).toBe('wire 2026-07-28')
    })
    expect(steps).toEqual([])
  })
})

describe('joining', () => {
  const KINDS = ['sessions', 'events', 'changes', 'cache'] as const

  test.each(KINDS)('a second node with %s only in its memory does not start', async (kind) => {
    const stores = new Stores()
    await startNodes({ count: 1, stores })
    const { [kind]: _, ...store } = stores.view('second').driver
    const app = createServer({ name: 'nodes', version: '1', store })
    await expect(app.listen({ http: { port: 0 } })).rejects.toMatchObject({
      kind: 'store_not_shared',
      message: expect.stringContaining(`this process keeps in its own memory: ${kind}`) as string,
    })
    expect(stores.nodes.numbers).toHaveLength(1)
  })

  test('rates are no reason not to start, because no server uses them', async () => {
    const stores = new Stores()
    await startNodes({ count: 1, stores })
    const { rates: _, ...store } = stores.view('second').driver
    const app = createServer({ name: 'nodes', version: '1', store })
    await app.listen({ http: { port: 0 } })
    expect(stores.nodes.numbers).toHaveLength(2)
    await app.close()
  })

  test('a node does not start beside another one that has something only in its memory', async () => {
    const stores = new Stores()
    const { events: _, ...store } = stores.view('first').driver
    const first = createServer({ name: 'nodes', version: '1', store })
    const running = await first.listen({ http: { port: 0 } })
    const session = await open(Number(new URL(running.url as string).port))
    expect((await session.get()).status).toBe(200)
    const second = createServer({ name: 'nodes', version: '1', store: stores.view('second').driver })
    await expect(second.listen({ http: { port: 0 } })).rejects.toThrow(
      'the other process keeps in its own memory: events',
    )
    await first.close()
    await second.listen({ http: { port: 0 } })
    await second.close()
  })

  test('tasks must be shared if the server has any', async () => {
    const stores = new Stores()
    const define = (app: App): void => void app.tool('slow', { task: 'optional' }, () => 'done')
    await startNodes({ count: 1, stores, define })
    await expect(startNodes({ count: 1, stores, define })).rejects.toThrow('in its own memory: tasks')
  })

  test('a node that closes is not known any more', async () => {
    const { nodes, stores } = await startNodes()
    expect(stores.nodes.numbers).toHaveLength(2)
    await nodes[0]!.app.close()
    expect(stores.nodes.numbers).toHaveLength(1)
  })

  test('a mount joins with its first request', async () => {
    const { nodes, stores } = await startNodes({ count: 1, define })
    const app = createServer({ name: 'nodes', version: '1', store: stores.view('mount').driver })
    define(app)
    const session = await opened(nodes[0]!)
    const reply = await app.fetch(
      new Request('http://localhost/mcp', { method: 'POST', headers: session.headers, body: call('who') }),
    )
    expect([reply.status, stores.nodes.numbers.length]).toEqual([200, 2])
    await app.close()
    expect(stores.nodes.numbers).toHaveLength(1)
  })
})

describe('a replica', () => {
  test('of a session in use prolongs it, and its client stays connected', async () => {
    const limits = { sessionIdleMs: 3000, keepAliveMs: 50 }
    const { nodes, stores } = await startNodes({ define, limits })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const stream = await at(two, session).get()
    const uses = (): number =>
      stores.exchanges.filter(({ node, step }) => node === 'node 2' && step === 'sessions.use').length
    await expect.poll(uses, { timeout: 30_000 }).toBeGreaterThan(5)
    expect((await session.post(call('who'))).status).toBe(200)
    expect(stream.ended).toBe(false)
  })

  test('that was idle for a minute is dropped, and the session goes on', async () => {
    const { nodes, stores } = await startNodes({ define })
    const session = await opened(nodes[0]!)
    const [endpoint] = endpointsOf(nodes[0]!.app)
    const real = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + 61_000)
    onTestFinished(() => clock.mockRestore())
    endpoint!.sweeper.look()
    clock.mockRestore()
    expect(endpoint!.sessions.size).toBe(0)
    expect(await stores.kinds.sessions.count()).toBe(1)
    expect(textOf(await session.post(call('who')))).toBe('wire 2025-11-25')
    expect(endpoint!.sessions.size).toBe(1)
  })
})
