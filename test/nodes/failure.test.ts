import { describe, expect, test } from 'vitest'
import { connect } from '../../src/client.ts'
import type { App } from '../../src/index.ts'
import { BOTH, call, initialize, message } from '../http/messages.ts'
import { Gate, open, type Session } from '../http/server.ts'
import { send, type Stream } from '../http/wire.ts'
import { at, balance, startNodes, type TestNode } from './nodes.ts'
import type { View } from './store.ts'

const TOKEN = { progressToken: 't' }

async function opened(node: TestNode, revision = '2025-11-25'): Promise<Session> {
  const session = await open(node.port, revision)
  await session.post(message('notifications/initialized'))
  return session
}

const idsOf = ({ events }: Stream): readonly string[] => events.map(({ id }) => id as string)

/** Makes the next step of a kind fail, before or after it happens. */
function failOnce(view: View, step: string, when: 'before' | 'after'): void {
  let isDone = false
  const isMeant = (one: string): boolean => one === step && !isDone && (isDone = true)
  if (when === 'after') view.losesAnswer = isMeant
  else {
    view.delay = (one) => {
      if (!isMeant(one)) return undefined
      view.isAway = true
      setImmediate(() => (view.isAway = false))
      return Promise.resolve()
    }
  }
}

describe('while the store is away', () => {
  test('requests with a session are 503 with Retry-After and may be repeated, and others are served', async () => {
    let calls = 0
    const define = (app: App): void => void app.tool('count', {}, () => ++calls)
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    for (const { view } of nodes) view.isAway = true
    for (const node of nodes) {
      const reply = await at(node, session).post(call('count'))
      expect([reply.status, reply.headers['retry-after']]).toEqual([503, '1'])
      expect(reply.json).toMatchObject({
        id: 2,
        error: { data: { refusal: { name: 'SERVICE_UNAVAILABLE', retryable: true } } },
      })
    }
    expect((await session.get()).status).toBe(503)
    expect((await session.delete()).status).toBe(503)
    expect((await session.post(message('notifications/cancelled', { requestId: 1 }))).status).toBe(503)
    const greeting = await send(two.port, { body: initialize(), headers: BOTH })
    expect([greeting.status, greeting.headers['mcp-session-id']]).toEqual([503, undefined])
    expect(calls).toBe(0)
    for (const { view } of nodes) view.isAway = false
    for (const node of nodes) expect((await at(node, session).post(call('count'))).status).toBe(200)
    expect(calls).toBe(2)
  })

  test('a running request goes on, and another node has all its events once the store is back', async () => {
    const gate = new Gate()
    let report: (step: number) => void = () => undefined
    const define = (app: App): void =>
      void app.tool('long', {}, async (_, { progress }) => {
        report = (step) => progress(step)
        progress(1)
        gate.enter()
        await gate.opened
        return 'done'
      })
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const first = await session.stream(call('long', {}, 2, TOKEN))
    await first.until(({ events }) => events.length === 2)
    const resumed = await at(two, session).get(idsOf(first)[0])
    await resumed.until(({ events }) => events.length === 1)
    for (const { view } of nodes) view.isAway = true
    report(2)
    await first.until(({ events }) => events.length === 3)
    report(3)
    gate.open()
    await first.end()
    expect(first.messages.at(-1)).toMatchObject({ id: 2, result: {} })
    for (const { view } of nodes) view.isAway = false
    await resumed.end()
    expect(idsOf(resumed)).toEqual(idsOf(first).slice(1))
    expect(resumed.messages).toEqual(first.messages)
  })

  test('changes wait, and reach every session once', async () => {
    const define = (app: App): void => void app.prompt('p', {}, () => 'p').resource('note://a', {}, () => 'a')
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, '2025-06-18')
    await session.post(message('resources/subscribe', { uri: 'note://a' }, 3))
    const stream = await at(two, session).get()
    for (const { view } of nodes) view.isAway = true
    one.app.changed('prompts')
    two.app.updated('note://a')
    one.app.changed('prompts')
    for (const { view } of nodes) view.isAway = false
    await stream.until(({ messages }) => messages.length === 2)
    one.app.updated('note://a')
    await stream.until(({ messages }) => messages.length === 3)
    expect(stream.messages.map(({ method }) => String(method)).toSorted()).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/updated',
      'notifications/resources/updated',
    ])
  })
})

describe('a step whose answer is lost', () => {
  test.each(['before', 'after'] as const)(
    'and that failed %s it happened leaves each event in the stream once',
    async (when) => {
      const gate = new Gate()
      const define = (app: App): void =>
        void app.tool('long', {}, async (_, { progress }) => {
          for (let step = 1; step <= 5; step++) progress(step)
          gate.enter()
          await gate.opened
          return 'done'
        })
      const { nodes } = await startNodes({ define })
      const [one, two] = nodes as [TestNode, TestNode]
      const session = await opened(one)
      failOnce(one.view, 'events.append', when)
      const first = await session.stream(call('long', {}, 2, TOKEN))
      await first.until(({ events }) => events.length === 6)
      const resumed = await at(two, session).get(idsOf(first)[0])
      gate.open()
      await Promise.all([first.end(), resumed.end()])
      expect(idsOf(resumed)).toEqual(idsOf(first).slice(1))
    },
  )

  test.each(['before', 'after'] as const)(
    'and that failed %s it happened leaves each notification in the stream once',
    async (when) => {
      const define = (app: App): void => void app.prompt('p', {}, () => 'p').tool('t', {}, () => 't')
      const { nodes } = await startNodes({ define })
      const [one, two] = nodes as [TestNode, TestNode]
      const session = await opened(one, '2025-06-18')
      const stream = await at(two, session).get()
      for (const { view } of nodes) failOnce(view, 'events.append', when)
      one.app.changed('prompts')
      two.app.changed('tools')
      await stream.until(({ messages }) => messages.length === 2)
      one.app.changed('prompts')
      await stream.until(({ messages }) => messages.length === 3)
      expect(stream.messages.filter(({ method }) => String(method).includes('tools'))).toHaveLength(1)
    },
  )

  test('of a change to the session is reported, and the change is there later', async () => {
    const define = (app: App): void =>
      void app
        .tool('keep', {}, async (_, { session }) => {
          await session?.set('key', 'value')
          return 'kept'
        })
        .tool('kept', {}, async (_, { session }) => String(await session?.get('key')))
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    failOnce(one.view, 'sessions.change', 'before')
    const failed = await session.post(call('keep'))
    expect(failed.json).toMatchObject({
      id: 2,
      error: { data: { refusal: { name: 'DEPENDENCY_UNAVAILABLE' } } },
    })
    await session.post(call('kept'))
    expect((await at(two, session).post(call('kept'))).json).toMatchObject({
      result: { content: [{ text: 'value' }] },
    })
  })
})

describe('a node that is told to stop', () => {
  test('finishes its requests, and its clients go on elsewhere', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app
        .tool('long', {}, async () => {
          gate.enter()
          await gate.opened
          return 'done'
        })
        .tool('quick', {}, () => 'done')
    const { nodes, stores } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const stream = await session.get()
    const running = session.post(call('long'))
    await gate.entered
    const closing = one.app.close()
    await stream.end()
    const [last] = idsOf(stream)
    const next = await at(two, session).get(last)
    expect(next.status).toBe(200)
    two.app.changed('tools')
    await next.until(({ messages }) => messages.length === 1)
    gate.open()
    expect((await running).json).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
    await closing
    expect(stores.nodes.numbers).toEqual([2])
    expect((await at(two, session).post(call('quick'))).status).toBe(200)
    expect(next.ended).toBe(false)
  })

  test('keeps the session of a client that still asks it, which goes on elsewhere', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app
        .tool('long', {}, async () => {
          gate.enter()
          await gate.opened
          return 'done'
        })
        .tool('count', {}, async (_, { session }) => {
          const count = ((await session?.get<number>('count')) ?? 0) + 1
          await session?.set('count', count)
          return `${count}`
        })
    const { nodes } = await startNodes({ define })
    const [one] = nodes as [TestNode, TestNode]
    // The node stays until all have heard of it.
    const running = (await opened(one)).post(call('long'))
    await gate.entered
    const proxy = await balance(nodes)
    await using client = await connect(proxy.url, { revision: '2025-11-25', recovery: { first: '1ms' } })
    for (const count of ['1', '2']) expect(await client.call('count')).toBe(count)
    const closing = one.app.close()
    proxy.choose = ({ method }) => {
      if (method === 'POST') proxy.choose = undefined
      return one.port
    }
    proxy.leave(one.port)
    for (const count of ['3', '4']) expect(await client.call('count')).toBe(count)
    gate.open()
    expect((await running).status).toBe(200)
    await closing
    expect(one.app.counts.get('node_stopping')).toBe(1)
    expect(await client.call('count')).toBe('5')
  })

  test('has the answer of a question that arrives elsewhere while it stops', async () => {
    const define = (app: App): void =>
      void app.tool('roots', {}, async (_, { roots }) => String((await roots()).length))
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await open(one.port, '2025-11-25', { roots: {} })
    const reply = await session.stream(call('roots'))
    await reply.until(({ messages }) => messages.length === 1)
    const closing = one.app.close()
    const id = reply.messages[0]?.['id']
    await at(two, session).post(JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [] } }))
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: '0' }] } })
    await closing
  })
})
