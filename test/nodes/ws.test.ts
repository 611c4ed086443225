import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { bearer } from '../../src/auth.ts'
import { connect, type Change, type Client, type ConnectOptions, type State } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import type { Message } from '../../src/protocol/jsonrpc.ts'
import { STANDALONE } from '../../src/transport/http/server/sessions.ts'
import { initialize, message } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { relay, type Relay } from '../ws/relay.ts'
import { frame, handshake, Raw } from '../ws/raw.ts'
import { open } from '../ws/server.ts'
import { kill, startNodes, type Cluster, type ClusterOptions, type TestNode } from './nodes.ts'

const LISTEN = { http: { port: 0 }, ws: true }
const QUICK = { reconnectFirstMs: 5, reconnectMaxMs: 50, reconnectFloorMs: 1 }
const LIMITS = { keepAliveMs: 100, pingMs: 200, pongMs: 2000 }
const REVISIONS = ['2024-11-05', '2025-11-25', '2026-07-28'] as const
const NOTE = 'note://a'

const headerOf = ({ head }: Raw, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? ''

interface SetUp {
  readonly cluster: Cluster
  readonly nodes: readonly [TestNode, TestNode, TestNode]
  readonly way: Relay
  readonly client: Client
  readonly states: readonly State[]
  /** Breaks the connection; the next one is at another node. */
  move(node: TestNode): Promise<void>
}

async function setUp(
  define: (app: App) => void,
  options: ConnectOptions = {},
  more: ClusterOptions = {},
): Promise<SetUp> {
  const cluster = await startNodes({ count: 3, listen: LISTEN, define, limits: LIMITS, ...more })
  const nodes = cluster.nodes as SetUp['nodes']
  const way = await relay(nodes[0].port)
  const client = await connect(way.url, {
    revision: '2025-11-25',
    ...options,
    limits: { ...QUICK, ...(options.limits as object) },
  })
  onTestFinished(() => client.close())
  const states: State[] = []
  client.on('state', (state) => states.push(state))
  const move = async (node: TestNode): Promise<void> => {
    const before = way.heads.length
    way.leadTo(node.port)
    way.cut()
    await expect.poll(() => way.heads.length).toBeGreaterThan(before)
  }
  return { cluster, nodes, way, client, states, move }
}

describe.each(REVISIONS)('a WebSocket at %s that is resumed at another node', (revision) => {
  test('gets the response of a request that runs at the first one, which runs once', async () => {
    const gate = new Gate()
    let runs = 0
    const define = (app: App): void =>
      void app
        .tool('wait', {}, async () => {
          runs++
          gate.enter()
          await gate.opened
          return 'done'
        })
        .tool('quick', {}, () => 'quick')
    const { nodes, client, states, move } = await setUp(define, { revision })
    const call = client.call('wait')
    await gate.entered
    await move(nodes[1])
    expect(await client.call('quick')).toBe('quick')
    gate.open()
    expect(await call).toBe('done')
    await move(nodes[2])
    await move(nodes[0])
    expect(await client.call('quick')).toBe('quick')
    expect([runs, states]).toEqual([1, []])
  })

  test('hears of changes of every node, each once', async () => {
    const define = (app: App): void => void app.resource(NOTE, {}, () => 'a')
    const { nodes, client, way, states, move } = await setUp(define, { revision })
    const heard: Change[] = []
    await client.subscribe(NOTE, (change) => heard.push(change))
    for (const [which, node] of [nodes[1], nodes[2], nodes[0]].entries()) {
      await move(node)
      nodes[which]!.app.updated(NOTE)
      await expect.poll(() => heard.length).toBe(which + 1)
    }
    const allow = way.refuse()
    way.cut()
    await expect.poll(() => way.open).toBe(0)
    nodes[2].app.updated(NOTE)
    way.leadTo(nodes[1].port)
    allow()
    await expect.poll(() => heard.length).toBe(4)
    nodes[0].app.updated(NOTE)
    await expect.poll(() => heard.length).toBe(5)
    expect(states).toEqual([])
  })
})

describe('a WebSocket that is resumed at another node', () => {
  test('answers a question of the first one, and cancels a request there', async () => {
    const gate = new Gate()
    const stopped = new Gate()
    const define = (app: App): void =>
      void app
        .tool('ask', {}, async (_, { elicit }) => {
          gate.enter()
          await gate.opened
          const { content } = await elicit('Name?', z.object({ name: z.string() }))
          return `Hello, ${content?.name}!`
        })
        .tool('hang', {}, async (_, { signal }) => {
          const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
          stopped.enter()
          await aborted
          stopped.open()
          return 'stopped'
        })
    const answers = { elicit: async () => ({ action: 'accept', content: { name: 'Ann' } }) as const }
    const { nodes, client, move } = await setUp(define, { answers })
    const asked = client.call('ask')
    const stop = new AbortController()
    const hanging = client.call('hang', {}, { signal: stop.signal }).catch(() => 'cancelled')
    await Promise.all([gate.entered, stopped.entered])
    await move(nodes[1])
    gate.open()
    expect(await asked).toBe('Hello, Ann!')
    stop.abort()
    expect(await hanging).toBe('cancelled')
    await stopped.opened
  })

  test('keeps the values of its session', async () => {
    const define = (app: App): void =>
      void app.tool('keep', {}, async (_, { session }) => {
        const last = (await session?.get<number>('count')) ?? 0
        await session?.set('count', last + 1)
        return String(last + 1)
      })
    const { nodes, client, move } = await setUp(define)
    for (const [which, node] of [nodes[1], nodes[2], nodes[0]].entries()) {
      expect(await client.call('keep')).toBe(String(which + 1))
      await move(node)
    }
    expect(await client.call('keep')).toBe('4')
  })

  test.each([
    ['', undefined, 0],
    [', although the answer to the end of its log is lost', 'events.append', 0],
    [', although the answer to the beginning of the next log is lost', 'events.open', 0],
    [', although the client had come back to that node without a message', undefined, 1],
    [', although the client had come back to that node twice', undefined, 2],
  ])('gets an error for the requests of a node that died, and goes on%s', async (_, lostStep, returns) => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app
        .tool('hang', {}, async () => {
          gate.enter()
          await new Promise(() => undefined)
          return 'never'
        })
        .tool('keep', {}, async (_, { session }) => {
          const last = (await session?.get<number>('count')) ?? 0
          await session?.set('count', last + 1)
          return String(last + 1)
        })
    const limits = { ...LIMITS, drainMs: 10 }
    const { cluster, nodes, client, states, move } = await setUp(define, {}, { limits })
    expect(await client.call('keep')).toBe('1')
    const lost = client.call('hang').catch((error: unknown) => error)
    await gate.entered
    for (let time = 0; time < returns; time++) await move(nodes[0])
    kill(cluster, 1, nodes[0])
    let isLost = false
    nodes[1].view.losesAnswer = (step) => step === lostStep && !isLost && (isLost = true)
    await move(nodes[1])
    expect(String(await lost)).toContain('the node that ran the request stopped before it answered')
    expect(await client.call('keep')).toBe('2')
    expect(states).toEqual([])
  })

  test('may fail to resume at a node after the log of its first connection is gone, and resumes there', async () => {
    const define = (app: App): void => void app.tool('quick', {}, () => 'quick')
    const { cluster, nodes, client, states, move, way } = await setUp(define)
    for (const node of [nodes[1], nodes[0], nodes[1]]) {
      await move(node)
      expect(await client.call('quick')).toBe('quick')
    }
    const id = /^mcp-session-id: (.*)$/im.exec(way.heads.at(-1) as string)?.[1]?.trim() as string
    await cluster.stores.kinds.events.forget(id, 'i0')
    let isLost = false
    nodes[2].view.losesAnswer = (step) => step === 'events.append' && !isLost && (isLost = true)
    await move(nodes[2])
    expect(await client.call('quick')).toBe('quick')
    expect([isLost, states]).toEqual([true, []])
  })

  test('is closed at the first one, whose messages no longer count', async () => {
    let runs = 0
    const define = (app: App): void => void app.tool('run', {}, () => String(++runs))
    const { nodes } = await startNodes({ listen: LISTEN, define, limits: LIMITS })
    const [one, two] = nodes as [TestNode, TestNode]
    const old = await open(one.port, { 'last-event-id': '0' })
    const id = headerOf(old, 'mcp-session-id')
    old.write(frame(initialize()))
    await old.until(() => old.texts.length === 1)
    const resumed = await open(two.port, { 'last-event-id': '1', 'mcp-session-id': id })
    expect([headerOf(resumed, 'mcp-session-id'), headerOf(resumed, 'last-event-id')]).toEqual([id, '1'])
    old.write(frame(message('tools/call', { name: 'run', arguments: {} }, 2)))
    expect(await old.closeCode()).toBe(4001)
    resumed.write(frame(message('tools/call', { name: 'run', arguments: {} }, 2)))
    await resumed.until(() => resumed.texts.length === 1)
    expect(runs).toBe(1)
    expect(old.texts).toHaveLength(1)
  })

  test('P.events-node the session of another caller is not resumed at another node', async () => {
    const auth = bearer((token) => ({ sub: token, scopes: [] }))
    const define = (app: App): void => void app.tool('run', {}, () => 'ran')
    const { nodes } = await startNodes({ listen: LISTEN, define, auth, limits: LIMITS })
    const [one, two] = nodes as [TestNode, TestNode]
    const headers = (caller: string, more: object): Record<string, string> => ({
      authorization: `Bearer ${caller}`,
      'last-event-id': '0',
      ...more,
    })
    const ann = await open(one.port, headers('ann', {}))
    const id = headerOf(ann, 'mcp-session-id')
    ann.write(frame(initialize()))
    await ann.until(() => ann.texts.length === 1)
    const bob = await open(two.port, headers('bob', { 'mcp-session-id': id }))
    expect(headerOf(bob, 'mcp-session-id')).not.toBe(id)
    const nobody = new Raw(two.port)
    expect(await nobody.ask(handshake(two.port, { 'last-event-id': '0', 'mcp-session-id': id }))).toBe(401)
    ann.write(frame(message('ping', {}, 2)))
    await ann.until(() => ann.texts.length === 2)
    const again = await open(two.port, headers('ann', { 'mcp-session-id': id }))
    expect(headerOf(again, 'mcp-session-id')).toBe(id)
    await again.until(() => again.texts.length === 2)
    expect(again.texts).toEqual(ann.texts)
    expect(bob.texts).toEqual([])
  })

  test.each([0, 1])(
    'hears of each change after its handshake, which %i other nodes ended, and of none before',
    async (others) => {
      const define = (app: App): void => void app.tool('run', {}, () => 'ran').resource(NOTE, {}, () => 'a')
      const { nodes } = await startNodes({ listen: LISTEN, define, limits: LIMITS })
      const [one, two] = nodes as [TestNode, TestNode]
      const change = async (kind: 'tools' | 'resources'): Promise<void> => {
        one.app.changed(kind)
        await one.app.announced()
      }
      const first = await open(one.port, { 'last-event-id': '0' })
      await change('tools')
      first.write(frame(initialize()))
      await first.until(() => first.texts.length === 1)
      for (let round = 0; round < 3; round++) await change('tools')
      const id = headerOf(first, 'mcp-session-id')
      const next = others === 0 ? first : await open(two.port, { 'last-event-id': '1', 'mcp-session-id': id })
      next.write(frame(message('notifications/initialized')))
      await change('resources')
      const heard = (): readonly unknown[] =>
        next.texts.flatMap((text) => (JSON.parse(text) as Message).method ?? [])
      await next.until(() => heard().includes('notifications/resources/list_changed'))
      expect(heard().slice(0, -1)).toEqual(
        Array.from({ length: 3 }, () => 'notifications/tools/list_changed'),
      )
    },
  )

  test.each([
    ['alone', ''],
    ['in a batch', '2025-03-26'],
    ['with an escaped name', '2025-11-25'],
  ])(
    'has ended its handshake, although the node died that got the notification %s',
    async (how, revision) => {
      const define = (app: App): void => void app.tool('run', {}, () => 'ran')
      const cluster = await startNodes({ listen: LISTEN, define, limits: LIMITS })
      const [one, two] = cluster.nodes as [TestNode, TestNode]
      const first = await open(one.port, { 'last-event-id': '0' })
      first.write(frame(revision === '' ? initialize() : initialize(revision)))
      await first.until(() => first.texts.length === 1)
      const id = headerOf(first, 'mcp-session-id')
      // The store takes the note that the message arrived, and nothing after it.
      const taken = new Gate()
      one.view.delay = (step) => (step === 'sessions.change' ? taken.opened : undefined)
      const notification = message('notifications/initialized')
      const texts: Readonly<Record<string, string>> = {
        alone: notification,
        'in a batch': `[${notification}]`,
        'with an escaped name': notification.replace('/', String.raw`\/`),
      }
      first.write(frame(texts[how] as string))
      await expect
        .poll(() => cluster.stores.kinds.events.read(id, 'i0', -1, 9))
        .toMatchObject({
          events: [{}, {}],
        })
      kill(cluster, 1, one)
      const resumed = await open(two.port, { 'last-event-id': '1', 'mcp-session-id': id })
      expect(headerOf(resumed, 'last-event-id')).toBe('2')
      two.app.changed('tools')
      await resumed.until(() => resumed.texts.length > 0)
      expect(resumed.texts.join('')).toContain('notifications/tools/list_changed')
      taken.open()
    },
  )

  test('goes on although its client moves for so long that nothing else keeps its messages', async () => {
    const define = (app: App): void => void app.tool('run', {}, () => 'ran')
    const { nodes, stores } = await startNodes({ listen: LISTEN, define, limits: LIMITS })
    const [one, two] = nodes as [TestNode, TestNode]
    const first = await open(one.port, { 'last-event-id': '0' })
    first.write(frame(initialize()))
    await first.until(() => first.texts.length === 1)
    const id = headerOf(first, 'mcp-session-id')
    const opened = vi.spyOn(stores.kinds.events, 'open')
    await open(two.port, { 'last-event-id': '1', 'mcp-session-id': id })
    await expect.poll(() => opened.mock.calls.map(([, stream]) => stream)).toContain(STANDALONE)
  })

  test('gets a new session if its count is wrong', async () => {
    const define = (app: App): void => void app.tool('run', {}, () => 'ran')
    const { nodes } = await startNodes({ listen: LISTEN, define, limits: { ...LIMITS, streamEvents: 2 } })
    const [one, two] = nodes as [TestNode, TestNode]
    const old = await open(one.port, { 'last-event-id': '0' })
    const id = headerOf(old, 'mcp-session-id')
    old.write(frame(initialize()))
    for (let each = 2; each < 6; each++) old.write(frame(message('ping', {}, each)))
    await old.until(() => old.texts.length === 5)
    for (const count of ['2', '6']) {
      const other = await open(two.port, { 'last-event-id': count, 'mcp-session-id': id })
      expect(headerOf(other, 'mcp-session-id')).not.toBe(id)
    }
    const resumed = await open(two.port, { 'last-event-id': '3', 'mcp-session-id': id })
    expect(headerOf(resumed, 'mcp-session-id')).toBe(id)
    await resumed.until(() => resumed.texts.length === 2)
    expect(resumed.texts).toEqual(old.texts.slice(3))
  })
})
