import { describe, expect, test, vi } from 'vitest'
import type { App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { bearer } from '../../src/auth.ts'
import { BOTH, call, initialize, message } from '../http/messages.ts'
import { Gate, open, Session } from '../http/server.ts'
import { send, type Stream } from '../http/wire.ts'
import { at, kill, startNodes, type TestNode } from './nodes.ts'

const TOKEN = { progressToken: 't' }
const EVENTS = 5

async function opened(node: TestNode, revision = '2025-11-25'): Promise<Session> {
  const session = await open(node.port, revision)
  await session.post(message('notifications/initialized'))
  return session
}

/** A tool that reports progress up to a number of times, and waits for the test before it answers. */
function stepping(gate: Gate): (app: App) => void {
  return (app) =>
    void app.tool('stepping', {}, async (_, { progress }) => {
      for (let step = 1; step <= EVENTS; step++) progress(step, EVENTS)
      gate.enter()
      await gate.opened
      return 'done'
    })
}

const idsOf = ({ events }: Stream): readonly string[] => events.map(({ id }) => id as string)
const seqsOf = (ids: readonly string[]): readonly number[] => ids.map((id) => Number(id.split('_')[1]))

describe('the stream of a request', () => {
  test.each(['2025-06-18', '2025-11-25'])(
    'at %s is resumed at another node after every event, while the request runs and when it is over',
    async (revision) => {
      const gate = new Gate()
      const { nodes } = await startNodes({ count: 3, define: stepping(gate) })
      const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
      const session = await opened(one, revision)
      const first = await session.stream(call('stepping', {}, 2, TOKEN))
      const sent = EVENTS + (revision === '2025-11-25' ? 1 : 0)
      await first.until(({ events }) => events.length === sent)
      first.drop()
      const seen = idsOf(first)
      const resumed = await Promise.all(
        seen.map((id, which) => at([two, three][which % 2] as TestNode, session).get(id)),
      )
      gate.open()
      const all = await Promise.all(resumed.map((stream) => stream.end()))
      const last = `${seen[0]?.split('_')[0]}_${sent}`
      for (const [which, stream] of all.entries()) {
        expect(idsOf(stream)).toEqual([...seen.slice(which + 1), last])
        expect(stream.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
      }
      for (const [which, id] of seen.entries()) {
        const late = await (await at(two, session).get(id)).end()
        expect(idsOf(late)).toEqual([...seen.slice(which + 1), last])
      }
      expect((await at(three, session).get(last)).status).toBe(204)
    },
  )

  test('cannot be resumed in another session, nor from an event that never was', async () => {
    const gate = new Gate()
    const { nodes } = await startNodes({ define: stepping(gate) })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const stranger = await opened(one)
    const first = await session.stream(call('stepping', {}, 2, TOKEN))
    await first.until(({ events }) => events.length > EVENTS)
    const [id] = idsOf(first) as [string]
    const foreign = await (await at(two, stranger).get(id)).end()
    expect([foreign.status, foreign.events]).toEqual([204, []])
    for (const bad of ['nonsense', 'x_1', '__proto___1'])
      expect((await at(two, session).get(bad)).status).toBe(400)
    gate.open()
    await first.end()
  })

  test('P.events-node an event id of another caller replays nothing at another node', async () => {
    const gate = new Gate()
    const auth = bearer((token) => ({ sub: token, scopes: [] }))
    const { nodes } = await startNodes({ define: stepping(gate), auth })
    const [one, two] = nodes as [TestNode, TestNode]
    const openedBy = async (caller: string): Promise<Session> => {
      const own = { ...BOTH, authorization: `Bearer ${caller}` }
      const { headers } = await send(one.port, { body: initialize(), headers: own })
      const id = headers['mcp-session-id'] as string
      return new Session(one.port, { ...own, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' })
    }
    const [ann, bob] = [await openedBy('ann'), await openedBy('bob')]
    const first = await ann.stream(call('stepping', {}, 2, TOKEN))
    await first.until(({ events }) => events.length > EVENTS)
    first.drop()
    const [id] = idsOf(first) as [string]
    const foreign = await (await at(two, bob).get(id)).end()
    expect([foreign.status, foreign.events]).toEqual([204, []])
    const stolen = new Session(two.port, { ...bob.headers, 'mcp-session-id': ann.id })
    expect((await stolen.get(id)).status).toBe(404)
    const resumed = await at(two, ann).get(id)
    gate.open()
    expect(idsOf(await resumed.end()).slice(0, -1)).toEqual(idsOf(first).slice(1))
  })

  test('is in the store no longer than at its node, and only for a minute once it has ended', async () => {
    const { stores, nodes } = await startNodes({
      limits: { keptStreams: 3 },
      define: (app) =>
        void app.tool('telling', {}, (_, { progress }) => {
          progress(1, 1)
          return 'told'
        }),
    })
    const [one, two] = nodes as [TestNode, TestNode]
    const { events } = stores.kinds
    const lives: number[] = []
    const append = events.append.bind(events)
    events.append = (session, stream, event, room) => {
      if (event.isLast === true) lives.push(room.idleMs)
      return append(session, stream, event, room)
    }
    const session = await opened(one)
    const ids: string[] = []
    for (let id = 1; id <= 10; id++) {
      const told = await (await session.stream(call('telling', {}, id, TOKEN))).end()
      ids.push(idsOf(told)[0] as string)
    }
    const names = ids.map((id) => id.split('_')[0] as string)
    const kept = async (): Promise<number> => {
      let count = 0
      for (const name of names) if ((await events.read(session.id, name, -1, 1)) !== undefined) count++
      return count
    }
    await vi.waitFor(async () => expect(await kept()).toBe(3))
    expect((await (await at(two, session).get(ids[9] as string)).end()).messages).toHaveLength(2)
    expect(lives).toHaveLength(10)
    for (const life of lives) expect(life).toBeLessThanOrEqual(60_000)
  })

  test('ends with an error for the request if the node that runs it dies', async () => {
    const gate = new Gate()
    const cluster = await startNodes({ define: stepping(gate), limits: { keepAliveMs: 50 } })
    const [one, two] = cluster.nodes as [TestNode, TestNode]
    const session = await opened(two)
    const first = await at(one, session).stream(call('stepping', {}, 2, TOKEN))
    await first.until(({ events }) => events.length > EVENTS)
    const seen = idsOf(first)
    // The store has everything that the client saw.
    const probe = await session.get(seen[0])
    await probe.until(({ events }) => events.length === EVENTS)
    probe.drop()
    first.drop()
    kill(cluster, 1, one)
    const resumed = await (await session.get(seen[2])).end()
    expect(idsOf(resumed).slice(0, -1)).toEqual(seen.slice(3))
    expect(resumed.messages.at(-1)).toMatchObject({
      id: 2,
      error: { code: -32603, data: { refusal: { name: 'TRANSPORT_ERROR', retryable: false } } },
    })
    gate.open()
  })

  test.each([1, 3])(
    'of a node that died before the store had the last %i events ends with an error, too',
    async (missing) => {
      const gate = new Gate()
      const cluster = await startNodes({ define: stepping(gate), limits: { keepAliveMs: 50 } })
      const [one, two] = cluster.nodes as [TestNode, TestNode]
      const session = await opened(two)
      // The first event has only an id.
      let left = EVENTS + 1 - missing
      one.view.delay = (step) => (step === 'events.append' && left-- <= 0 ? gate.opened : undefined)
      const first = await at(one, session).stream(call('stepping', {}, 2, TOKEN))
      await first.until(({ events }) => events.length > EVENTS)
      const last = idsOf(first).at(-1) as string
      first.drop()
      kill(cluster, 1, one)
      let resumed = await session.get(last)
      for (let each = 0; each < 3 && resumed.messages.length === 0; each++)
        resumed = await (await session.get(last)).end()
      expect(resumed.messages).toMatchObject([{ id: 2, error: { code: -32603 } }])
      const [name, number] = last.split('_')
      expect(idsOf(resumed)).toEqual([`${name}_0${Number(number) + 1}`])
      gate.open()
    },
  )

  test('of a batch ends with an error for each of its requests if the node that runs it dies', async () => {
    const gate = new Gate()
    const cluster = await startNodes({ define: stepping(gate), limits: { keepAliveMs: 50 } })
    const [one, two] = cluster.nodes as [TestNode, TestNode]
    const session = await opened(two, '2025-03-26')
    const batch = [call('stepping', {}, 2, TOKEN), message('notifications/none'), call('stepping', {}, 3)]
    const first = await at(one, session).stream(`[${batch.join(',')}]`)
    await first.until(({ events }) => events.length >= EVENTS)
    const seen = idsOf(first)
    const probe = await session.get(seen[0])
    await probe.until(({ events }) => events.length >= EVENTS - 1)
    probe.drop()
    first.drop()
    kill(cluster, 1, one)
    const resumed = await (await session.get(seen[2])).end()
    const error = { code: -32603 }
    expect(resumed.messages.at(-1)).toMatchObject([
      { id: 2, error },
      { id: 3, error },
    ])
    gate.open()
  })

  test('is read at most eight times at once at a node: the oldest reader makes room', async () => {
    const gate = new Gate()
    const { nodes } = await startNodes({ define: stepping(gate) })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(two)
    const first = await at(one, session).stream(call('stepping', {}, 2, TOKEN))
    await first.until(({ events }) => events.length > EVENTS)
    const [id] = idsOf(first)
    const readers: Stream[] = []
    for (let count = 0; count < 10; count++) {
      const reader = await session.get(id)
      await reader.until(({ events }) => events.length === EVENTS)
      readers.push(reader)
    }
    for (const reader of readers.slice(0, 2)) await reader.end()
    expect(readers.map(({ ended }) => ended)).toEqual(readers.map((_, which) => which < 2))
    gate.open()
    for (const reader of readers.slice(2))
      expect((await reader.end()).messages.at(-1)).toMatchObject({ id: 2, result: {} })
  })

  test('is closed by its handler, and resumed at another node', async () => {
    const gate = new Gate()
    const define = (app: App): void =>
      void app.tool('away', {}, async (_, { closeStream }) => {
        closeStream(10)
        await gate.opened
        return 'back'
      })
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const first = await (await session.stream(call('away'))).end()
    const resumed = await at(two, session).get(idsOf(first).at(-1))
    gate.open()
    expect((await resumed.end()).messages).toMatchObject([{ result: { content: [{ text: 'back' }] } }])
  })
})

describe('the stream of a session', () => {
  const define = (app: App): void => void app.prompt('p', {}, () => 'p').tool('t', {}, () => 't')

  test('is resumed at another node after every event', async () => {
    const { nodes } = await startNodes({ count: 3, define })
    const [one, two, three] = nodes as [TestNode, TestNode, TestNode]
    const session = await opened(one)
    const first = await session.get()
    for (let change = 1; change <= EVENTS; change++) {
      ;(nodes[change % 3] as TestNode).app.changed(change % 2 === 0 ? 'tools' : 'prompts')
      await first.until(({ events }) => events.length === change + 1)
    }
    first.drop()
    const seen = idsOf(first)
    expect(seqsOf(seen)).toEqual([0, 1, 2, 3, 4, 5])
    for (const [which, id] of seen.entries()) {
      const rest = seen.slice(which + 1)
      const stream = await at([two, three][which % 2] as TestNode, session).get(id)
      expect(stream.status).toBe(200)
      await stream.until(({ events }) => events.length >= rest.length)
      expect(idsOf(stream).slice(0, rest.length)).toEqual(rest)
      stream.drop()
    }
  })

  test('that a node failed to open can be opened at another one', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    one.view.delay = (step) => (step === 'events.open' ? Promise.reject(new Error('lost')) : undefined)
    expect((await session.get()).status).toBe(500)
    await vi.waitFor(async () => expect((await at(two, session).get()).status).toBe(200))
  })

  test('is open at one node only: a second GET is 409, and resuming moves it', async () => {
    const { nodes } = await startNodes()
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one)
    const first = await session.get()
    expect(first.status).toBe(200)
    for (const node of nodes) expect((await at(node, session).get()).status).toBe(409)
    await first.until(({ events }) => events.length === 1)
    const moved = await at(two, session).get(idsOf(first)[0])
    await first.end()
    expect(moved.ended).toBe(false)
    expect((await session.get()).status).toBe(409)
    moved.drop()
    await expect.poll(async () => (await session.get()).status).toBe(200)
  })

  test('is served at another node if the one that had it open is dead', async () => {
    const cluster = await startNodes()
    const [one, two] = cluster.nodes as [TestNode, TestNode]
    const session = await opened(one)
    await session.get()
    expect((await at(two, session).get()).status).toBe(409)
    kill(cluster, 1, one)
    expect((await at(two, session).get()).status).toBe(200)
  })

  test('sends what nobody has read once, to the next client that opens it', async () => {
    const { nodes } = await startNodes({ define })
    const [one, two] = nodes as [TestNode, TestNode]
    const session = await opened(one, '2025-06-18')
    two.app.changed('prompts')
    const first = await at(two, session).get()
    await first.until(({ messages }) => messages.length === 1)
    first.drop()
    let next = first
    await expect.poll(async () => (next = await session.get()).status).toBe(200)
    one.app.changed('prompts')
    await next.until(({ messages }) => messages.length > 0)
    expect(idsOf(next)).toEqual(['s_1'])
  })
})

test('the result of a request that asked for events only is a stream that any node can repeat', async () => {
  const { nodes } = await startNodes({ define: (app) => void app.tool('one', {}, () => 1) })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await opened(one)
  const reply = await session.stream(call('one'), { accept: 'text/event-stream' })
  await reply.end()
  const [event] = reply.events as unknown as [{ readonly id: string }]
  expect((await at(two, session).get(event.id)).status).toBe(204)
  const result = reply.messages as readonly JsonObject[]
  expect(result).toMatchObject([{ id: 2, result: {} }])
})
