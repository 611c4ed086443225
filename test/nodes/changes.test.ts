import { describe, expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createServer, type App } from '../../src/index.ts'
import { BOTH, call, headed, initialize, message } from '../http/messages.ts'
import { Gate, open, Session } from '../http/server.ts'
import { send, stream, type Stream } from '../http/wire.ts'
import { at, startNodes, type TestNode } from './nodes.ts'
import { Stores } from './store.ts'

const UPDATED = 'notifications/resources/updated'
const LISTS = ['tools', 'prompts', 'resources'].map((kind) => `notifications/${kind}/list_changed`)

function define(app: App): void {
  app
    .tool('t', {}, () => 't')
    .prompt('p', {}, () => 'p')
    .resource('note://a', {}, () => 'a')
    .resource('note://b', {}, () => 'b')
}

async function subscribed(node: TestNode): Promise<Session> {
  const session = await open(node.port, '2025-06-18')
  await session.post(message('notifications/initialized'))
  await session.post(message('resources/subscribe', { uri: 'note://a' }, 3))
  return session
}

const methods = ({ messages }: Stream): readonly string[] => messages.map(({ method }) => String(method))

describe('changes that nobody knows any more', () => {
  test('mean to a session that everything may have changed, once', async () => {
    const stores = new Stores(10)
    const first = await startNodes({ count: 2, stores, define })
    const [one, two] = first.nodes as [TestNode, TestNode]
    const session = await subscribed(one)
    one.view.isAway = true
    stores.nodes.dead.add(1)
    for (let change = 0; change < 30; change++) two.app.updated(`note://other/${change}`)
    await expect.poll(() => stores.kinds.changes.position()).toBeGreaterThanOrEqual(30)
    const later = await startNodes({ count: 2, stores, define })
    const [three, four] = later.nodes as [TestNode, TestNode]
    await at(four, session).post(call('t'))
    const got = await at(three, session).get()
    await got.until(({ messages }) => messages.length === 4)
    two.app.updated('note://a')
    await got.until(({ messages }) => messages.length === 5)
    expect(methods(got)).toEqual([...LISTS, UPDATED, UPDATED])
  })

  test('but are in the stream of a session are not announced again', async () => {
    const stores = new Stores(10)
    const first = await startNodes({ count: 2, stores, define })
    const [one, two] = first.nodes as [TestNode, TestNode]
    const session = await subscribed(one)
    for (let change = 0; change < 30; change++) two.app.updated(`note://other/${change}`)
    two.app.updated('note://a')
    const got = await session.get()
    await got.until(({ messages }) => messages.length === 1)
    const last = got.events.at(-1)?.id
    got.drop()
    await got.end()
    for (let other = 0; other < 5; other++) await stores.kinds.changes.publish('{}')
    const later = await startNodes({ count: 1, stores, define })
    const three = later.nodes[0] as TestNode
    const resumed = await at(three, session).get(last)
    await at(three, session).post(call('t'))
    two.app.updated('note://a')
    await resumed.until(({ messages }) => messages.length > 0)
    expect(methods(resumed)).toEqual([UPDATED])
  })

  test('but that another node has looked at are not announced', async () => {
    const stores = new Stores(1500)
    const { nodes } = await startNodes({ count: 2, stores, define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await subscribed(one)
    one.view.isAway = true
    stores.nodes.dead.add(1)
    const saved = (): number => stores.exchanges.filter(({ step }) => step === 'sessions.change').length
    for (let round = 0; round < 2; round++) {
      for (let other = 0; other < 1200; other++) await stores.kinds.changes.publish('{}')
      const [node] = (await startNodes({ count: 1, stores, define })).nodes as [TestNode]
      const before = saved()
      await at(node, session).post(call('t'))
      await expect.poll(saved).toBeGreaterThan(before)
    }
    const got = await at(two, session).get()
    two.app.updated('note://a')
    await got.until(({ messages }) => messages.length > 0)
    expect(methods(got)).toEqual([UPDATED])
  })

  test('mean to the other clients of a node that everything may have changed', async () => {
    const { nodes, stores } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await subscribed(one)
    const got = await session.get()
    const wanted = { toolsListChanged: true, resourceSubscriptions: ['note://b'] }
    const listening = await stream(one.port, headed('subscriptions/listen', { notifications: wanted }))
    await listening.until(({ messages }) => messages.length === 1)
    one.view.isAway = true
    const { changes } = stores.kinds
    const before = await changes.position()
    two.app.updated('note://a')
    two.app.changed('tools')
    await expect.poll(() => changes.position()).toBe(before + 2)
    await one.view.loseMessages()
    one.view.isAway = false
    await listening.until(({ messages }) => messages.length === 3)
    expect(methods(listening).slice(1)).toEqual([LISTS[0], UPDATED])
    await got.until(({ messages }) => messages.length >= 2)
    expect(methods(got)).toContain(UPDATED)
    listening.drop()
  })
})

test.each([
  ['a resource', (app: App): void => app.updated('note://a')],
  ['a list', (app: App): void => app.changed('tools')],
  ['a new tool', (app: App): void => void app.tool('new', {}, () => 'new')],
])('whoever waits for what was announced waits until the store has it: %s', async (_, change) => {
  const { nodes, stores } = await startNodes({ define })
  const [one] = nodes as [TestNode, TestNode]
  const { changes } = stores.kinds
  const before = await changes.position()
  one.view.isAway = true
  change(one.app)
  let isAnnounced = false
  const announced = one.app.announced().then(() => (isAnnounced = true))
  await expect.poll(() => stores.exchanges.some(({ step }) => step === 'changes.publish')).toBe(true)
  expect([isAnnounced, await changes.position()]).toEqual([false, before])
  one.view.isAway = false
  await announced
  expect(await changes.position()).toBe(before + 1)
})

test('without other nodes, nobody waits for what was announced', async () => {
  const app = createServer({ name: 'alone', version: '1.0.0' }).resource('note://a', {}, () => 'a')
  app.updated('note://a')
  await expect(app.announced()).resolves.toBeUndefined()
})

test('a caller that one node revokes is rejected by all, and its streams end everywhere', async () => {
  const auth = bearer((token) => ({ sub: token, scopes: [] }), { recheck: '10m' })
  const { nodes } = await startNodes({ define, auth })
  const [one, two] = nodes as [TestNode, TestNode]
  const ann = { ...BOTH, authorization: 'Bearer ann' }
  const reply = await send(one.port, { body: initialize(), headers: ann })
  const id = reply.headers['mcp-session-id'] as string
  const session = new Session(two.port, {
    ...ann,
    'mcp-session-id': id,
    'mcp-protocol-version': '2025-11-25',
  })
  const got = await session.get()
  expect(got.status).toBe(200)
  void one.app.revoke({ sub: 'ann' })
  await got.end()
})

test('each message of a batch may need another node', async () => {
  const gate = new Gate()
  const { nodes } = await startNodes({
    define: (app) =>
      void app.tool('wait', {}, async (_, { signal }) => {
        gate.enter()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        gate.open()
      }),
  })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await open(one.port, '2025-03-26')
  const running = session.post(call('wait', {}, 7))
  await gate.entered
  const batch = [
    message('notifications/initialized'),
    message('notifications/cancelled', { requestId: 7 }),
    message('ping', {}, 8),
  ]
  const reply = await at(two, session).post(`[${batch.join(',')}]`)
  expect(reply.status).toBe(200)
  await gate.opened
  await running
})
