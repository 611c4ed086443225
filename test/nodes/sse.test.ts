import { describe, expect, test } from 'vitest'
import { bearer } from '../../src/auth.ts'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { call, initialize, message } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { open, OldClient } from '../sse/server.ts'
import { kill, startNodes, type Cluster, type TestNode } from './nodes.ts'

const LONG_ID = 'i'.repeat(3000)
const LISTEN = { http: { port: 0, sse: true } }

/** A call whose id is a text. */
const callAs = (id: string, name: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })
/** The same client, whose messages go to another node. */
const at = ({ port }: TestNode, { stream }: OldClient): OldClient => new OldClient(port, stream)
const textOf = (answer: JsonObject): unknown =>
  (answer['result'] as { readonly content: readonly [{ readonly text: string }] }).content[0].text

async function shaken(node: TestNode, next: TestNode, capabilities: JsonObject = {}): Promise<OldClient> {
  const client = await open(node.port)
  await at(next, client).post(initialize('2024-11-05', capabilities))
  await client.answer(1)
  await at(next, client).post(message('notifications/initialized'))
  return client
}

function start(define: (app: App) => void, more: object = {}): Promise<Cluster> {
  return startNodes({ count: 3, define, listen: LISTEN, limits: { keepAliveMs: 50 }, ...more })
}

describe('HTTP+SSE at three nodes', () => {
  test('messages may arrive at any node, and everything comes on the one stream', async () => {
    const define = (app: App): void =>
      void app
        .tool('keep', {}, async (_, { session }) => {
          const last = (await session?.get<number>('count')) ?? 0
          await session?.set('count', last + 1)
          return String(last + 1)
        })
        .tool('steps', {}, (_, { progress }) => {
          for (let step = 1; step <= 3; step++) progress(step)
          return 'stepped'
        })
        .resource('note://a', {}, () => 'a')
    const { nodes } = await start(define)
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, two)
    for (const [which, node] of [one, two, three, two].entries()) {
      expect((await at(node, client).post(call('keep', {}, 10 + which))).status).toBe(202)
      expect(textOf(await client.answer(10 + which))).toBe(String(which + 1))
    }
    await at(three, client).post(call('steps', {}, 20, { progressToken: 't' }))
    await client.answer(20)
    const steps = client.messages.filter(({ method }) => method === 'notifications/progress')
    expect(steps.map(({ params }) => (params as JsonObject)['progress'])).toEqual([1, 2, 3])
    await at(two, client).post(message('resources/subscribe', { uri: 'note://a' }, 30))
    await client.answer(30)
    for (const { app } of nodes) {
      const before = client.messages.length
      app.updated('note://a')
      await client.stream.until(() => client.messages.length > before)
    }
    one.app.changed('tools')
    const methods = (): readonly unknown[] => client.messages.map(({ method }) => method)
    await client.stream.until(() => methods().includes('notifications/tools/list_changed'))
    expect(methods().filter((method) => method === 'notifications/resources/updated')).toHaveLength(3)
  })

  test('a client hears of each change after its handshake, whichever nodes that was at, and of none before', async () => {
    const cluster = await start(
      (app) => void app.tool('t', {}, () => 't').resource('note://a', {}, () => 'a'),
    )
    const [one, two, three] = cluster.nodes as [TestNode, TestNode, TestNode]
    const client = await open(one.port)
    const change = async (kind: 'tools' | 'resources'): Promise<void> => {
      one.app.changed(kind)
      await one.app.announced()
    }
    await change('tools')
    await at(two, client).post(initialize('2024-11-05'))
    await client.answer(1)
    await at(three, client).post(message('notifications/initialized'))
    kill(cluster, 3, three)
    for (let round = 0; round < 3; round++) await change('tools')
    await at(two, client).post(call('t', {}, 2))
    await client.answer(2)
    await change('resources')
    const heard = (): readonly unknown[] => client.messages.flatMap(({ method }) => method ?? [])
    await client.stream.until(() => heard().includes('notifications/resources/list_changed'))
    expect(heard().slice(0, -1)).toEqual(Array.from({ length: 3 }, () => 'notifications/tools/list_changed'))
  })

  test('a long answer to a question of another node is in the store only if that node waits for it, and only until then', async () => {
    const define = (app: App): void =>
      void app.tool('ask', {}, async (_, { roots }) => String((await roots()).length))
    const { nodes, stores } = await start(define)
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three, { roots: {} })
    await at(two, client).post(call('ask', {}, 2))
    await client.stream.until(() => client.messages.some(({ method }) => method === 'roots/list'))
    const { id } = client.messages.find(({ method }) => method === 'roots/list') as JsonObject
    const roots = Array.from({ length: 100 }, (_, n) => ({ uri: `file:///${n}${'r'.repeat(1000)}` }))
    const count = (step: string): number => stores.exchanges.filter((one) => one.step === step).length
    const post = (to: unknown): Promise<{ readonly status: number | undefined }> =>
      at(three, client).post(JSON.stringify({ jsonrpc: '2.0', id: to, result: { roots } }))
    expect((await post(Number(id) + 1)).status).toBe(202)
    expect(count('cache.set')).toBe(0)
    expect((await post(id)).status).toBe(202)
    expect(textOf(await client.answer(2))).toBe('100')
    await expect.poll(() => [count('cache.set'), count('cache.delete')]).toEqual([1, 1])
  })

  test('the stream of a node that stops ends after the requests at other nodes, which take no more of them', async () => {
    const gate = new Gate()
    let quick = 0
    const define = (app: App): void =>
      void app
        .tool('long', {}, async (_, { roots }) => {
          gate.enter()
          await gate.opened
          return String((await roots()).length)
        })
        .tool('quick', {}, () => String(++quick))
    const { nodes } = await start(define)
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three, { roots: {} })
    await at(two, client).post(call('long', {}, 2))
    await gate.entered
    const closing = one.app.close()
    await expect.poll(async () => (await at(three, client).post(call('quick', {}, 3))).status).toBe(503)
    const ran = quick
    for (const node of [one, two, three])
      expect((await at(node, client).post(call('quick', {}, 4))).status).toBe(503)
    expect(quick).toBe(ran)
    gate.open()
    await client.stream.until(() => client.messages.some(({ method }) => method === 'roots/list'))
    const { id } = client.messages.find(({ method }) => method === 'roots/list') as JsonObject
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [] } })
    expect((await at(three, client).post(answer)).status).toBe(202)
    expect(textOf(await client.answer(2))).toBe('0')
    await client.stream.end()
    await closing
  })

  test('answers and cancellations reach the node of their request', async () => {
    const stopped = new Gate()
    const define = (app: App): void =>
      void app
        .tool('ask', {}, async (_, { roots }) => String((await roots()).length))
        .tool('hang', {}, async (_, { signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          stopped.enter()
          return 'stopped'
        })
    const { nodes } = await start(define)
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three, { roots: {} })
    await at(two, client).post(call('ask', {}, 2))
    const asked = (): JsonObject | undefined => client.messages.find(({ method }) => method === 'roots/list')
    await client.stream.until(() => asked() !== undefined)
    const result = { roots: [] }
    await at(three, client).post(JSON.stringify({ jsonrpc: '2.0', id: asked()?.['id'], result }))
    expect(textOf(await client.answer(2))).toBe('0')
    await at(two, client).post(call('hang', {}, 3))
    await at(three, client).post(message('notifications/cancelled', { requestId: 3 }))
    await stopped.entered
  })

  test('requests of a node that dies get an error, once', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app
        .tool('hang', {}, async () => {
          gate.enter()
          await new Promise(() => undefined)
          return 'never'
        })
        .tool('quick', {}, () => 'quick')
    const cluster = await start(define, { limits: { keepAliveMs: 50, drainMs: 10 } })
    const [one, two, three] = cluster.nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three)
    await at(two, client).post(call('hang', {}, 2))
    await gate.entered
    kill(cluster, 2, two)
    expect(await client.answer(2)).toMatchObject({
      error: { data: { refusal: { name: 'TRANSPORT_ERROR' } } },
    })
    await at(three, client).post(call('quick', {}, 3))
    await client.answer(3)
    expect(client.messages.filter(({ id }) => id === 2)).toHaveLength(1)
  })

  test('running requests with long ids take little of the session in the store', async () => {
    let begun = 0
    const define = (app: App): void =>
      void app.tool('hang', {}, async (_, { signal }) => {
        begun++
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
    const cluster = await start(define, { limits: { keepAliveMs: 50, drainMs: 10 } })
    const [one, two, three] = cluster.nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three)
    for (let nth = 0; nth < 10; nth++) {
      const id = `${nth}${LONG_ID}`
      await at(nth % 2 === 0 ? two : three, client).post(callAs(id, 'hang'))
    }
    expect(begun).toBe(10)
    const id = new URL(client.path, 'http://localhost').searchParams.get('sessionId') as string
    const stored = await cluster.stores.kinds.sessions.use(id, undefined, 60_000)
    const runs = [...(stored?.fields ?? [])].filter(([name]) => name.startsWith('runs:'))
    expect(runs.map(([name]) => name).sort()).toEqual(['runs:2', 'runs:3'])
    expect(runs.map(([, ids]) => ids).join().length).toBeLessThan(100)
  })

  test('the stream ends if a node dies that ran a request with an id too long to note', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app.tool('hang', {}, async () => {
        gate.enter()
        await new Promise(() => undefined)
      })
    const cluster = await start(define, { limits: { keepAliveMs: 50, drainMs: 10 } })
    const [one, two, three] = cluster.nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three)
    await at(two, client).post(callAs(LONG_ID, 'hang'))
    await at(two, client).post(call('hang', {}, 2))
    await gate.entered
    kill(cluster, 2, two)
    expect(await client.answer(2)).toMatchObject({ error: {} })
    await client.stream.end()
    expect((await at(three, client).post(call('hang', {}, 3))).status).toBe(404)
  })

  test('a node that stops waits for a request at another node whose id is too long to note', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app.tool('long', {}, async () => {
        gate.enter()
        await gate.opened
        return 'late'
      })
    const { nodes } = await start(define)
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, three)
    await at(two, client).post(callAs(LONG_ID, 'long'))
    await gate.entered
    const closing = one.app.close()
    await expect.poll(async () => (await at(three, client).post(call('long', {}, 4))).status).toBe(503)
    gate.open()
    await client.stream.end()
    await closing
    expect(client.messages.at(-1)).toMatchObject({ id: LONG_ID, result: { content: [{ text: 'late' }] } })
  })

  test('a session ends at all nodes with its stream, and with the node of its stream', async () => {
    const define = (app: App): void => void app.tool('quick', {}, () => 'quick')
    const cluster = await start(define)
    const [one, two] = cluster.nodes as [TestNode, TestNode, TestNode]
    const client = await shaken(one, two)
    client.stream.drop()
    await expect.poll(async () => (await at(two, client).post(call('quick'))).status).toBe(404)
    const other = await shaken(one, two)
    kill(cluster, 1, one)
    await expect
      .poll(async () => (await at(two, other).post(call('quick'))).status, { timeout: 5000 })
      .toBe(404)
  })

  test('only the caller that opened the stream may post, at any node', async () => {
    const auth = bearer((token) => ({ sub: token, scopes: [] }))
    const define = (app: App): void => void app.tool('quick', {}, () => 'quick')
    const { nodes } = await start(define, { auth })
    const [one, two] = nodes as [TestNode, TestNode]
    const client = await open(one.port, '/sse', { authorization: 'Bearer ann' })
    const post = (token: string): Promise<{ readonly status: number }> =>
      at(two, client).post(initialize('2024-11-05'), { authorization: `Bearer ${token}` })
    expect((await post('bob')).status).toBe(404)
    expect((await post('ann')).status).toBe(202)
    await client.answer(1)
  })
})
