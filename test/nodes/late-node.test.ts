import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { RUNS } from '../../src/rpc/session-fields.ts'
import { redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { startRedis } from '../harness/redis.ts'
import { call, initialize, message } from '../http/messages.ts'
import { Gate, open as openHttp } from '../http/server.ts'
import { open as openSse, OldClient } from '../sse/server.ts'
import { frame, type Raw } from '../ws/raw.ts'
import { open } from '../ws/server.ts'
import { at, kill, startNodes, type Cluster, type TestNode } from './nodes.ts'
import { Stores } from './store.ts'

const LIMITS = { keepAliveMs: 50, pingMs: 200, pongMs: 60_000 }
const TOKEN = { progressToken: 't' }
const WS = { http: { port: 0 }, ws: true }
const SSE = { http: { port: 0, sse: true } }
const STREAM = 's'
const LOST = /the node that ran the request stopped before it answered/

interface SetUp extends Cluster {
  readonly one: TestNode
  readonly two: TestNode
  readonly gate: Gate
}

/** Two nodes with a tool that reports progress before and after the gate. */
async function setUp(listen: object, stores: Stores = new Stores()): Promise<SetUp> {
  const gate = new Gate()
  const define = (app: App): void =>
    void app
      .tool('long', {}, async (_, { progress }) => {
        progress(1)
        gate.enter()
        await gate.opened
        progress(2)
        return 'done'
      })
      .tool('quick', {}, () => 'quick')
  const cluster = await startNodes({ define, listen, limits: LIMITS, stores })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  return { ...cluster, one, two, gate }
}

/** The node lives on, like one that was suspended. */
function revive({ stores }: Cluster, number: number, node: TestNode): void {
  stores.nodes.dead.delete(number)
  node.view.isAway = false
}

const idOf = ({ head }: Raw): string => /^mcp-session-id: (.*)$/im.exec(head)?.[1]?.trim() ?? ''

/** All messages with the id of a request, also in batches, and all reports of progress. */
function about(texts: readonly string[], id: number): readonly unknown[] {
  const all = texts.flatMap((text) => JSON.parse(text) as { readonly id?: number; readonly method?: string })
  return all.filter((one) => one.id === id || one.method === 'notifications/progress')
}

/** Begins a request at the first node, and resumes at the second one. */
async function moved({ one, two, gate }: SetUp, text = call('long', {}, 2, TOKEN)): Promise<Raw> {
  const old = await open(one.port, { 'last-event-id': '0' })
  const revision = text.startsWith('[') ? '2025-03-26' : '2025-11-25'
  old.write(frame(initialize(revision)), frame(message('notifications/initialized')), frame(text))
  await gate.entered
  await old.until(() => old.texts.length === 2)
  const raw = await open(two.port, { 'last-event-id': '2', 'mcp-session-id': idOf(old) })
  expect(idOf(raw)).toBe(idOf(old))
  return raw
}

/** Messages until the answer to a ping, which comes after all others that the store has. */
async function settled(raw: Raw): Promise<readonly string[]> {
  raw.write(frame(message('ping', {}, 99)))
  await raw.until(() => raw.texts.some((text) => about([text], 99).length > 0))
  return raw.texts
}

const SHARED: Readonly<Record<string, () => Promise<Stores>>> = {
  memory: () => Promise.resolve(new Stores()),
  SQLite() {
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-late-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return Promise.resolve(withEvents(sqlite(join(folder, 'nodes.db'), { shared: true })))
  },
  async Redis() {
    const server = await startRedis()
    onTestFinished(() => server.close())
    return withEvents(redis(server.url))
  },
}

/** Stores whose events are those of a driver. */
function withEvents(driver: StoreDriver): Stores {
  const stores = new Stores()
  onTestFinished(() => driver.close())
  Object.assign(stores.kinds, { events: driver.events })
  return stores
}

describe.each(Object.keys(SHARED))('a WebSocket whose node was taken for dead, with %s', (kind) => {
  test.each([
    ['finished meanwhile', true],
    ['finishes later', false],
  ])('gets one response if that node %s', async (_, isEarly) => {
    const cluster = await setUp(WS, await SHARED[kind]!())
    const { one, gate } = cluster
    const raw = await moved(cluster)
    kill(cluster, 1, one)
    if (isEarly) gate.open()
    await raw.until(() => raw.texts.some((text) => LOST.test(text)))
    revive(cluster, 1, one)
    gate.open()
    await one.app.close()
    expect(about(await settled(raw), 2)).toEqual([
      expect.objectContaining({ id: 2, error: expect.anything() }),
    ])
  })

  test('gets the answer and no error if that node answers while another one gives it up', async () => {
    const cluster = await setUp(WS, await SHARED[kind]!())
    const { stores, one, two, gate } = cluster
    const raw = await moved(cluster)
    const answered = new Gate()
    two.view.delay = (step) => {
      if (step !== 'events.append') return undefined
      answered.enter()
      return answered.opened
    }
    // Only its signs of life do not arrive.
    one.view.delay = (step) => (step === 'nodes.beat' ? Promise.reject(new Error('lost')) : undefined)
    stores.nodes.dead.add(1)
    await answered.entered
    gate.open()
    const stored = async (): Promise<number> => {
      const page = await stores.kinds.events.read(idOf(raw), STREAM, -1, 100)
      return page?.events.filter(({ text }) => text.includes('"done"')).length ?? 0
    }
    await expect.poll(stored).toBe(1)
    answered.open()
    const running = async (): Promise<unknown> =>
      (await stores.kinds.sessions.use(idOf(raw), undefined, 10_000))?.fields?.get(`${RUNS}1`)
    await expect.poll(running, { timeout: 10_000 }).toBe(undefined)
    await one.app.close()
    expect(about(await settled(raw), 2)).toEqual([
      expect.objectContaining({ method: 'notifications/progress' }),
      expect.objectContaining({ id: 2, result: expect.anything() }),
    ])
  })
})

describe('a WebSocket', () => {
  test('gets one response to each request of a batch whose node was taken for dead', async () => {
    const cluster = await setUp(WS)
    const { one, gate } = cluster
    const batch = [call('quick', {}, 3), call('long', {}, 2, TOKEN), call('quick', {}, 4)]
    const raw = await moved(cluster, `[${batch.join(',')}]`)
    kill(cluster, 1, one)
    await raw.until(() => raw.texts.some((text) => about([text], 2).length > 0))
    revive(cluster, 1, one)
    gate.open()
    await one.app.close()
    const texts = await settled(raw)
    for (const id of [2, 3, 4]) expect(about(texts, id)).toHaveLength(1)
  })

  test('gets the response of a node that stops, however long the others look for it', async () => {
    const cluster = await setUp(WS)
    const { stores, one, gate } = cluster
    const raw = await moved(cluster)
    const closed = one.app.close()
    const looks = (): number =>
      stores.exchanges.filter(({ node, step }) => node === 'node 2' && step === 'nodes.isAlive').length
    const before = looks()
    await expect.poll(looks, { timeout: 10_000 }).toBeGreaterThan(before + 2)
    expect(stores.nodes.numbers).toEqual([1, 2])
    gate.open()
    await closed
    expect(stores.nodes.numbers).toEqual([2])
    expect(about(await settled(raw), 2)).toEqual([
      expect.objectContaining({ method: 'notifications/progress' }),
      expect.objectContaining({ id: 2, result: expect.anything() }),
    ])
  })
})

test('a stream of HTTP+SSE gets one response if the node of a request was taken for dead', async () => {
  const cluster = await setUp(SSE)
  const { one, two, gate } = cluster
  const client = await openSse(two.port)
  await client.shake()
  await new OldClient(one.port, client.stream).post(call('long', {}, 2, TOKEN))
  await gate.entered
  await client.stream.until(() => client.messages.length === 2)
  kill(cluster, 1, one)
  expect(JSON.stringify(await client.answer(2))).toMatch(LOST)
  revive(cluster, 1, one)
  gate.open()
  await one.app.close()
  await client.post(message('ping', {}, 99))
  await client.answer(99)
  expect(client.messages.map(({ id, method }) => id ?? method)).toEqual([1, 'notifications/progress', 2, 99])
})

test('a stream of HTTP gets one response if the node of its request was taken for dead', async () => {
  const cluster = await setUp({ http: { port: 0 } })
  const { stores, one, two, gate } = cluster
  const session = await openHttp(one.port)
  const first = await session.stream(call('long', {}, 2, TOKEN))
  await first.until(({ messages }) => messages.length > 0)
  const resumed = await at(two, session).get(first.events[0]?.id as string)
  kill(cluster, 1, one)
  await resumed.end()
  expect(JSON.stringify(resumed.messages.at(-1))).toMatch(LOST)
  revive(cluster, 1, one)
  gate.open()
  await one.app.close()
  const name = first.events[0]?.id?.split('_')[0] as string
  const page = await stores.kinds.events.read(session.id, name, -1, 100)
  const texts = page?.events.flatMap(({ text }) => (text === '' ? [] : [text])) ?? []
  expect(about(texts, 2)).toHaveLength(2)
  expect(texts.at(-1)).toMatch(LOST)
  expect(page?.isOver).toBe(true)
  // Nothing follows that response, at any node.
  const again = await at(two, session).get(resumed.events.at(-1)?.id as string)
  expect(again.status).toBe(204)
  // A client that got more events from the node than the store has does not know the response.
  const ahead = await at(two, session).get(`${name}_9`)
  await ahead.end()
  expect(ahead.messages).toMatchObject([{ id: 2, error: { message: expect.stringMatching(LOST) } }])
  expect((await at(two, session).get(ahead.events[0]?.id as string)).status).toBe(204)
})
