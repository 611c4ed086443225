import { expect, test } from 'vitest'
import { message } from '../http/messages.ts'
import { Gate, open, type Session } from '../http/server.ts'
import type { Stream } from '../http/wire.ts'
import { at, kill, startNodes, type Cluster, type TestNode } from './nodes.ts'

const LONG = 'i'.repeat(65_000)
/** What the store keeps with a stream for the case that its node dies. */
const MOST_KEPT = 40_000

const callAs = (id: string | number, progressToken?: string): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'step', arguments: {}, ...(progressToken !== undefined && { _meta: { progressToken } }) },
})

interface Started {
  readonly cluster: Cluster
  readonly session: Session
  readonly gate: Gate
  /** The id of the event that the client has seen. */
  readonly seen: string
}

/** Sends a body to node 1, whose client reads one event and leaves. */
async function begin(body: unknown, revision: string): Promise<Started> {
  const gate = new Gate()
  const cluster = await startNodes({
    define: (app) =>
      void app.tool('step', {}, async (_, { progress }) => {
        progress(1, 2)
        await gate.opened
        return 'done'
      }),
    limits: { keepAliveMs: 50 },
  })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  const session = await open(two.port, revision)
  await session.post(message('notifications/initialized'))
  const first = await at(one, session).stream(JSON.stringify(body))
  await first.until(({ messages }) => messages.length > 0)
  const seen = first.events.at(-1)?.id as string
  const [name, number] = seen.split('_') as [string, string]
  // The store has everything that the client saw.
  const { events } = cluster.stores.kinds
  await expect
    .poll(async () => (await events.read(session.id, name, Number(number) - 1, 1))?.events.length)
    .toBe(1)
  first.drop()
  return { cluster, session, gate, seen }
}

/** What the client gets at node 2 after node 1 has died. */
async function resumed({ cluster, session, seen }: Started): Promise<Stream> {
  kill(cluster, 1, cluster.nodes[0] as TestNode)
  return (await session.get(seen)).end()
}

async function keptLength({ cluster, session, seen }: Started): Promise<number> {
  const page = await cluster.stores.kinds.events.read(session.id, seen.split('_')[0] as string, -1, 1)
  return page?.writer.length ?? -1
}

test('a stream keeps no error for a request with a very long id, and ends without one if its node dies', async () => {
  const started = await begin(callAs(LONG, 't'), '2025-06-18')
  expect(await keptLength(started)).toBeLessThan(MOST_KEPT)
  const { events, status } = await resumed(started)
  expect([status, events]).toEqual([200, []])
  expect((await started.session.get(started.seen)).status).toBe(204)
  started.gate.open()
})

test('a stream of a batch keeps only as many errors as fit', async () => {
  const short = [callAs(1, 't'), callAs(2)]
  const long = Array.from({ length: 50 }, (_, which) => callAs(`${LONG}${which}`))
  const started = await begin([...short, ...long, callAs(3)], '2025-03-26')
  expect(await keptLength(started)).toBeLessThan(MOST_KEPT)
  const { messages } = await resumed(started)
  expect(messages.at(-1)).toMatchObject([
    { id: 1, error: { code: -32603 } },
    { id: 2, error: { code: -32603 } },
    { id: 3, error: { code: -32603 } },
  ])
  started.gate.open()
})

test('the end of a stream that keeps no error is known when it is resumed after its response', async () => {
  const started = await begin(callAs(LONG, 't'), '2025-06-18')
  const { session, gate, seen } = started
  const rest = await session.get(seen)
  gate.open()
  const { events } = await rest.end()
  expect(events).toHaveLength(1)
  const last = events[0]?.id as string
  const [name, number] = last.split('_')
  for (const id of [last, `${name}_${Number(number) + 1}`]) expect((await session.get(id)).status).toBe(204)
})
