import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineExtension } from '../../src/extensions.ts'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { call, headed, message } from '../http/messages.ts'
import { Gate, open, type Session } from '../http/server.ts'
import { stream, type Stream } from '../http/wire.ts'
import { at, startNodes, type TestNode } from './nodes.ts'

const FORMS = { elicitation: { form: {} } }
const LIST_CHANGED = 'notifications/tools/list_changed'
const UPDATED = 'notifications/resources/updated'

async function opened(node: TestNode, capabilities: object = {}): Promise<Session> {
  const session = await open(node.port, '2025-11-25', capabilities)
  await session.post(message('notifications/initialized'))
  return session
}

const answer = (id: unknown, result: JsonObject): string => JSON.stringify({ jsonrpc: '2.0', id, result })
const methods = ({ messages }: Stream): readonly unknown[] => messages.map(({ method }) => method)
const until = (stream: Stream, count: number): Promise<Stream> =>
  stream.until(({ messages }) => messages.length >= count)

describe('a question', () => {
  const define = (app: App): void => {
    app.tool('ask', {}, async (_, { elicit }) => {
      const { content } = await elicit('Sure?', z.object({ text: z.string() }))
      return String(content?.text.length)
    })
  }

  /** A question of one node in a session that began at the other. */
  async function asked(limits = {}) {
    const { nodes, stores } = await startNodes({ define, limits })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, FORMS)
    const reply = await at(two, session).stream(call('ask'))
    await until(reply, 1)
    const { id } = reply.messages[0] as JsonObject
    return { stores, session, reply, id }
  }

  test.each([
    ['a short answer', 'yes'],
    ['a long one', 'y'.repeat(200_000)],
  ])('of one node gets %s that arrives at another', async (_, text) => {
    const { nodes } = await startNodes({ count: 3, define })
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const session = await opened(one, FORMS)
    const reply = await at(two, session).stream(call('ask'))
    await until(reply, 1)
    const { id, method } = reply.messages[0] as JsonObject
    expect(method).toBe('elicitation/create')
    const body = answer(id, { action: 'accept', content: { text } })
    expect((await at(three, session).post(body)).status).toBe(202)
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ result: { content: [{ text: String(text.length) }] } })
  })

  test('of another node cannot be answered any number of times', async () => {
    const { stores, session, reply, id } = await asked()
    const large = answer(Number(id) + 1, { action: 'accept', content: { text: 'n'.repeat(5_000_000) } })
    const statuses: (number | undefined)[] = []
    const steps = await stores.during(async () => {
      for (let at = 0; at < 12; at++) statuses.push((await session.post(large)).status)
    })
    // No node waits for them, so the store keeps none, and they leave room for others.
    expect(statuses).toEqual(Array<number>(12).fill(202))
    expect(steps.filter((step) => step.startsWith('cache.'))).toEqual([])
    const long = answer(id, { action: 'accept', content: { text: 'y'.repeat(200_000) } })
    expect((await session.post(long)).status).toBe(202)
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ result: { content: [{ text: '200000' }] } })
  })

  test('is answered at length any number of times one after the other, since each answer counts until it has arrived', async () => {
    const asks = 6
    const { nodes } = await startNodes({
      limits: { heldBytes: 300_000 },
      define: (app) => {
        app.tool('ask', {}, async (_, { elicit }) => {
          let sum = 0
          for (let nth = 0; nth < asks; nth++)
            sum += (await elicit('Sure?', z.object({ text: z.string() }))).content?.text.length ?? 0
          return String(sum)
        })
      },
    })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, FORMS)
    const reply = await at(two, session).stream(call('ask'))
    for (let nth = 1; nth <= asks; nth++) {
      await until(reply, nth)
      const { id } = reply.messages[nth - 1] as JsonObject
      const long = answer(id, { action: 'accept', content: { text: 'y'.repeat(100_000) } })
      expect((await session.post(long)).status).toBe(202)
    }
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ result: { content: [{ text: '600000' }] } })
  })

  test('fails at once if there is no room for its answer', async () => {
    const { session, reply, id } = await asked({ heldBytes: 300_000 })
    const long = answer(id, { action: 'accept', content: { text: 'y'.repeat(250_000) } })
    const refused = await session.post(long)
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('three quarters')
    await reply.end()
    const text = expect.stringContaining('no room') as string
    expect(reply.messages.at(-1)).toMatchObject({ result: { isError: true, content: [{ text }] } })
  })

  test('is answered although answers to nodes that do not live wait', async () => {
    const { session, reply, id } = await asked({ heldBytes: 1_000_000 })
    const stray = (nth: number): Promise<number | undefined> =>
      session.post(answer(1_999_999e9 + nth, { text: 'n'.repeat(150_000) })).then(({ status }) => status)
    const strays = [stray(1), stray(2), stray(3)]
    // One of them waits for a reply.
    expect(await Promise.race(strays)).toBe(503)
    const long = answer(id, { action: 'accept', content: { text: 'y'.repeat(500_000) } })
    expect((await session.post(long)).status).toBe(202)
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ result: { content: [{ text: '500000' }] } })
    expect((await Promise.all(strays)).toSorted((a, b) => Number(a) - Number(b))).toEqual([202, 503, 503])
  })

  test('leaves none of several long answers in the store', async () => {
    const { stores, session, reply, id } = await asked()
    const long = answer(id, { action: 'accept', content: { text: 'y'.repeat(200_000) } })
    await Promise.all(Array.from({ length: 4 }, () => session.post(long)))
    await reply.end()
    const count = (name: string): number => stores.exchanges.filter(({ step }) => step === name).length
    expect(count('cache.set')).toBeGreaterThan(0)
    await expect.poll(() => count('cache.delete')).toBe(count('cache.set'))
  })

  test('has an id that no question of another node has', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, FORMS)
    const replies = [
      await session.stream(call('ask', {}, 5)),
      await at(two, session).stream(call('ask', {}, 6)),
    ]
    await Promise.all(replies.map((reply) => until(reply, 1)))
    const ids = replies.map(({ messages }) => messages[0]?.['id'])
    expect(ids[0]).not.toBe(ids[1])
    const texts = ['one', 'three']
    for (const [which, id] of ids.entries()) {
      const body = answer(id, { action: 'accept', content: { text: texts[which] } })
      await at([two, one][which] as TestNode, session).post(body)
    }
    await Promise.all(replies.map((reply) => reply.end()))
    expect(replies.map(({ messages }) => messages.at(-1))).toMatchObject([
      { id: 5, result: { content: [{ text: '3' }] } },
      { id: 6, result: { content: [{ text: '5' }] } },
    ])
  })

  test('is not answered by the client of another session', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, FORMS)
    const stranger = await opened(two, FORMS)
    const reply = await session.stream(call('ask'))
    await until(reply, 1)
    const { id } = reply.messages[0] as JsonObject
    const body = answer(id, { action: 'accept', content: { text: 'mine' } })
    expect((await stranger.post(body)).status).toBe(202)
    expect((await at(two, session).post(answer(id, { action: 'decline' }))).status).toBe(202)
    await reply.end()
    expect(reply.messages.at(-1)).toMatchObject({ result: { content: [{ text: 'undefined' }] } })
  })
})

test('a request is cancelled by a notification that arrives at another node', async () => {
  const gate = new Gate()
  let reason: unknown
  const define = (app: App): void => {
    app.tool('wait', {}, async (_, { signal }) => {
      gate.enter()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = (signal.reason as Error).message
      gate.open()
    })
  }
  const { nodes } = await startNodes({ define })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await opened(one)
  const reply = session.stream(call('wait', {}, 7))
  await gate.entered
  const cancelled = message('notifications/cancelled', { requestId: 7, reason: 'enough' })
  expect((await at(two, session).post(cancelled)).status).toBe(202)
  await gate.opened
  expect(reason).toContain('enough')
  expect((await (await reply).end()).messages).toEqual([])
})

describe('changes', () => {
  const defineItems = (app: App): void =>
    void app.resource('note://a', {}, () => 'a').prompt('p', {}, () => 'p')

  test('reach the stream of a session at any node, wherever they happen, once each and in order', async () => {
    const { nodes } = await startNodes({ count: 3, define: defineItems })
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const session = await opened(one)
    await at(three, session).post(message('ping', {}, 8))
    const stream = await at(two, session).get()
    const subscribed = await at(three, session).post(message('resources/subscribe', { uri: 'note://a' }, 9))
    expect(subscribed.json).toMatchObject({ result: {} })
    one.app.updated('note://a')
    await until(stream, 1)
    three.app.changed('prompts')
    await until(stream, 2)
    one.app.updated('note://other')
    two.app.updated('note://a')
    await until(stream, 3)
    await at(one, session).post(message('resources/unsubscribe', { uri: 'note://a' }, 10))
    three.app.updated('note://a')
    one.app.changed('prompts')
    await until(stream, 4)
    const prompts = 'notifications/prompts/list_changed'
    expect(methods(stream)).toEqual([UPDATED, prompts, UPDATED, prompts])
  })

  test('that happen while no node knows the session reach it once one does', async () => {
    const { nodes, stores } = await startNodes({ count: 3, define: defineItems })
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const session = await opened(one)
    await session.post(message('resources/subscribe', { uri: 'note://a' }, 9))
    one.view.isAway = true
    stores.nodes.dead.add(1)
    two.app.updated('note://a')
    two.app.updated('note://b')
    three.app.changed('resources')
    const stream = await at(three, session).get()
    await until(stream, 2)
    expect(methods(stream)).toEqual([UPDATED, 'notifications/resources/list_changed'])
  })

  test('reach a 2026-07-28 client that listens at another node', async () => {
    const { nodes } = await startNodes({ define: (app) => void app.tool('first', {}, () => 1) })
    const [one, two] = nodes as [TestNode, TestNode]
    const asked = headed('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const listening = await stream(two.port, asked)
    await until(listening, 1)
    one.app.tool('more', {}, () => 1)
    await until(listening, 2)
    expect(methods(listening)).toEqual(['notifications/subscriptions/acknowledged', LIST_CHANGED])
    listening.drop()
  })

  test('of an extension reach the clients of other nodes that declared it', async () => {
    const notify: ((name: string, params?: JsonObject) => void)[] = []
    const tides = defineExtension({
      id: 'com.example/tides',
      methods: {},
      notices: ['turned'],
      serve: (_: undefined, host) => {
        notify.push(host.notify)
        return {}
      },
    })
    const { nodes } = await startNodes({ define: (app) => void app.extend(tides as never) })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, { experimental: { 'com.example/tides': {} } })
    const stream = await session.get()
    notify[1]?.('turned', { level: 3 })
    await until(stream, 1)
    expect(stream.messages).toMatchObject([
      { method: 'notifications/com.example/tides/turned', params: { level: 3 } },
    ])
    const other = await at(two, await opened(two)).get()
    notify[0]?.('turned', {})
    await until(stream, 2)
    expect(other.messages).toEqual([])
  })
})
