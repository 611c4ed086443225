import { expect, test, vi } from 'vitest'
import type { App } from '../../src/index.ts'
import { CallTable } from '../../src/rpc/call-table.ts'
import { call } from '../http/messages.ts'
import { Gate } from '../http/server.ts'
import { OldClient, open } from '../sse/server.ts'
import { kill, startNodes, type Cluster, type TestNode } from './nodes.ts'

const MANY = 60
/** How many responses wait for the store. */
const BEHIND = 3
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Started {
  readonly cluster: Cluster
  readonly two: TestNode
  /** The client whose stream is at node 1, and the same one with messages to node 2. */
  readonly client: OldClient
  readonly elsewhere: OldClient
  /** What was noted of running requests so far. */
  notes(): readonly string[]
}

/** A client whose stream is at one node, and whose messages go to another one. */
async function start(define: (app: App) => void): Promise<Started> {
  const cluster = await startNodes({
    define,
    listen: { http: { port: 0, sse: true } },
    limits: { keepAliveMs: 50, drainMs: 10 },
  })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  const client = await (await open(one.port)).shake()
  const change = vi.spyOn(cluster.stores.kinds.sessions, 'change')
  const notes = (): readonly string[] => change.mock.calls.flatMap(([, fields]) => fields.get('runs:2') ?? [])
  return { cluster, two, client, elsewhere: new OldClient(two.port, client.stream), notes }
}

/** Lets a node add as many events as it is told. */
function holdAppends({ view }: TestNode): (count: number) => void {
  let allowed = 0
  const waiting: (() => void)[] = []
  view.delay = async (step) => {
    if (step !== 'events.append') return
    if (allowed > 0) allowed--
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return (count) => {
    for (let nth = 0; nth < count; nth++) {
      const next = waiting.shift()
      if (next === undefined) allowed++
      else next()
    }
  }
}

const steps = (app: App): void =>
  void app.tool('step', {}, async () => {
    await soon()
    return 'stepped'
  })

test('a steady sender does not make a node note the requests that it has answered', async () => {
  const { two, client, elsewhere, notes } = await start(steps)
  const allow = holdAppends(two)
  for (let nth = 0; nth < MANY; nth++) {
    expect((await elsewhere.post(call('step', {}, 100 + nth))).status).toBe(202)
    if (nth < BEHIND) continue
    allow(1)
    await client.answer(100 + nth - BEHIND)
  }
  const lengths = notes().map((ids) => (JSON.parse(ids) as readonly string[]).length)
  expect(lengths.length).toBeGreaterThan(MANY / 2)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(BEHIND + 3)
  allow(MANY)
  await client.answer(100 + MANY - 1)
})

test('a request stays noted until the store has its response, and is answered if the node dies before', async () => {
  const hung = new Gate()
  const { cluster, two, client, elsewhere, notes } = await start((app) => {
    steps(app)
    app.tool('hang', {}, async () => {
      hung.enter()
      await new Promise(() => undefined)
    })
  })
  holdAppends(two)
  await elsewhere.post(call('step', {}, 100))
  for (let turn = 0; turn < 10; turn++) await soon()
  await elsewhere.post(call('hang', {}, 101))
  await hung.entered
  expect([...(JSON.parse(notes().at(-1) as string) as readonly string[])].sort()).toEqual(['100', '101'])
  kill(cluster, 2, two)
  for (const id of [100, 101])
    expect(await client.answer(id)).toMatchObject({
      error: { data: { refusal: { name: 'TRANSPORT_ERROR' } } },
    })
})

test('many messages at once make a node look at its running requests a few times', async () => {
  const gate = new Gate()
  const { client, elsewhere, notes } = await start(
    (app) =>
      void app.tool('wait', {}, async () => {
        await gate.opened
        return 'late'
      }),
  )
  const looks = vi.spyOn(CallTable.prototype, 'ids', 'get')
  const posts = Array.from({ length: MANY }, (_, nth) => elsewhere.post(call('wait', {}, 100 + nth)))
  expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([202]))
  expect(looks.mock.calls.length).toBeLessThan(MANY / 2)
  expect(notes().length).toBeLessThan(MANY / 2)
  expect(JSON.parse(notes().at(-1) as string)).toHaveLength(MANY)
  looks.mockRestore()
  gate.open()
  await client.answer(100 + MANY - 1)
})

test('requests with many long ids take a limited part of the session in the store', async () => {
  const gate = new Gate()
  const { elsewhere, notes } = await start(
    (app) =>
      void app.tool('wait', {}, async () => {
        await gate.opened
        return 'late'
      }),
  )
  const callAs = (id: string): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: {} } })
  const posts = Array.from({ length: 200 }, (_, nth) => elsewhere.post(callAs(`${nth}${'i'.repeat(240)}`)))
  expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([202]))
  expect(Math.max(...notes().map((ids) => ids.length))).toBeLessThan(20_000)
  expect(JSON.parse(notes().at(-1) as string)).toContain('#')
  gate.open()
})

test('a request that is answered at once is accepted only when the store has its response', async () => {
  const { two, client, elsewhere } = await start((app) => void app.tool('now', {}, () => 'now'))
  const allow = holdAppends(two)
  const held = new Gate()
  const { delay } = two.view
  two.view.delay = async (step) => {
    if (step === 'events.append') held.enter()
    await delay?.(step)
  }
  let status: number | undefined
  const posted = elsewhere.post(call('now', {}, 100)).then((received) => (status = received.status))
  await held.entered
  for (let turn = 0; turn < 50; turn++) await soon()
  expect(status).toBeUndefined()
  allow(1)
  expect(await posted).toBe(202)
  expect(await client.answer(100)).toMatchObject({ result: { content: [{ text: 'now' }] } })
})
