import { expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import { Gate } from '../http/server.ts'
import { relay, type Relay } from '../ws/relay.ts'
import { startNodes, type Cluster, type TestNode } from './nodes.ts'

const QUICK = { reconnectFirstMs: 5, reconnectMaxMs: 50, reconnectFloorMs: 1 }

interface SetUp {
  readonly cluster: Cluster
  readonly one: TestNode
  readonly two: TestNode
  readonly client: Client
  readonly way: Relay
  /** Entered by `wait` at the first node, before it counts and after that. */
  readonly before: Gate
  readonly after: Gate
  /** Breaks the connection; answers once the session is served at the other node. */
  move(node: TestNode): Promise<void>
}

/** A client of one of two nodes, with tools that count in the session. The nodes look after their sessions every `pingMs / 4`. */
async function setUp(pingMs = 60_000): Promise<SetUp> {
  const [before, after] = [new Gate(), new Gate()]
  const define = (app: App): void =>
    void app
      .tool('count', {}, async (_, { session }) => {
        const count = ((await session?.get<number>('count')) ?? 0) + 1
        await session?.set('count', count)
        return String(count)
      })
      .tool('wait', {}, async (_, { session }) => {
        before.enter()
        await before.opened
        await session?.set('count', 10)
        after.enter()
        await after.opened
        return 'waited'
      })
      .tool('quick', {}, () => 'quick')
  const limits = { keepAliveMs: 100, pingMs, pongMs: 60_000 }
  const cluster = await startNodes({ listen: { http: { port: 0 }, ws: true }, define, limits })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  const way = await relay(one.port)
  const client = await connect(way.url, { revision: '2025-11-25', limits: QUICK })
  onTestFinished(() => client.close())
  const move = async (node: TestNode): Promise<void> => {
    way.leadTo(node.port)
    way.cut()
    expect(await client.call('quick')).toBe('quick')
  }
  return { cluster, one, two, client, way, before, after, move }
}

/** How often the nodes ask the store for the session during a call. */
async function looks({ stores }: Cluster, client: Client): Promise<number> {
  const steps = await stores.during(() => client.call('quick'))
  return steps.filter((step) => step === 'sessions.use').length
}

test('a call sees what an earlier one wrote at the node of the last connection, whose answer has arrived', async () => {
  const { two, client, before, after, move } = await setUp()
  expect(await client.call('count')).toBe('1')
  const waiting = client.call('wait')
  await before.entered
  await move(two)
  before.open()
  after.open()
  expect(await waiting).toBe('waited')
  expect(await client.call('count')).toBe('11')
  expect(await client.call('count')).toBe('12')
})

test('a call sees what one has written that still runs at the node of the last connection', async () => {
  const { two, client, before, after, move } = await setUp()
  const waiting = client.call('wait')
  await before.entered
  await move(two)
  before.open()
  await after.entered
  expect(await client.call('count')).toBe('11')
  after.open()
  expect(await waiting).toBe('waited')
  expect(await client.call('count')).toBe('12')
})

test('a call sees what one wrote that began at the other node after nothing seemed to run there', async () => {
  const { cluster, one, two, client, before, after, move } = await setUp()
  expect(await client.call('quick')).toBe('quick')
  // The store has the note that the call arrived, but the node does not know.
  const retried = new Gate()
  let losses = 0
  one.view.losesAnswer = (step) => step === 'events.append' && losses++ === 0
  one.view.delay = async (step) => {
    if (step !== 'events.append' || losses === 0) return
    retried.enter()
    await retried.opened
  }
  const waiting = client.call('wait')
  await retried.entered
  const says = (): number =>
    cluster.stores.exchanges.filter(({ node, step }) => node === 'node 1' && step === 'sessions.change')
      .length
  const earlier = says()
  await move(two)
  // The first node says that nothing runs there.
  await expect.poll(says).toBeGreaterThan(earlier)
  await expect.poll(() => looks(cluster, client)).toBe(0)
  before.open()
  after.open()
  retried.open()
  expect(await waiting).toBe('waited')
  expect(await client.call('count')).toBe('11')
})

test('the store is asked only while requests run at other nodes', async () => {
  const { cluster, one, two, client, before, after, move } = await setUp(200)
  expect(await looks(cluster, client)).toBe(0)
  await move(one)
  expect(await looks(cluster, client)).toBe(0)
  const waiting = client.call('wait')
  await before.entered
  await move(two)
  expect(await looks(cluster, client)).toBeGreaterThan(0)
  before.open()
  after.open()
  await waiting
  await expect.poll(() => looks(cluster, client)).toBe(0)
  expect(await client.call('count')).toBe('11')
})
