import { expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { STANDALONE } from '../../src/transport/http/server/sessions.ts'
import { message } from '../http/messages.ts'
import { open, type Session } from '../http/server.ts'
import { at, startNodes, type Cluster, type TestNode } from './nodes.ts'

const SESSIONS = 20
const ROUNDS = 40
const UNSENT = 400_000
const URI = `note://${'a'.repeat(2000)}`

const define = (app: App): void => void app.resource('note://{id}', {}, ({ id }) => String(id))

async function watching({ nodes }: Cluster, count: number): Promise<readonly Session[]> {
  const sessions: Session[] = []
  for (let nth = 0; nth < count; nth++) {
    const session = await open((nodes[nth % nodes.length] as TestNode).port, '2025-11-25')
    await session.post(message('notifications/initialized'))
    await session.post(message('resources/subscribe', { uri: URI }, 3))
    sessions.push(session)
  }
  return sessions
}

const idOf = ({ headers }: Session): string => String(headers['mcp-session-id'])

/** What the store keeps for a session: the number of the first event, and the lengths of all. */
async function keptFor(
  { stores }: Cluster,
  session: Session,
): Promise<{ first: number; lengths: readonly number[] }> {
  const page = await stores.kinds.events.read(idOf(session), STANDALONE, -1, 10_000)
  return { first: page?.first ?? 0, lengths: page?.events.map(({ text }) => text.length) ?? [] }
}

async function bytesIn(cluster: Cluster, sessions: readonly Session[]): Promise<number> {
  const all = await Promise.all(sessions.map((session) => keptFor(cluster, session)))
  return all.flatMap(({ lengths }) => lengths).reduce((sum, length) => sum + length, 0)
}

/** Announces a change again and again, each time once the store has it for all sessions. */
async function announce(cluster: Cluster, sessions: readonly Session[], rounds: number): Promise<void> {
  const { events } = cluster.stores.kinds
  for (let round = 0; round < rounds; round++) {
    const { app } = cluster.nodes[round % cluster.nodes.length] as TestNode
    app.updated(URI)
    await app.announced()
    const newest = await cluster.stores.kinds.changes.position()
    for (const session of sessions)
      await expect.poll(() => events.position(idOf(session), STANDALONE), { interval: 1 }).toBe(newest)
  }
}

test('notifications that nobody reads take no more of the store than a share of unsentBytes, and a little for each session', async () => {
  const cluster = await startNodes({ define, limits: { unsentBytes: UNSENT } })
  const sessions = await watching(cluster, SESSIONS)
  await announce(cluster, sessions, ROUNDS)
  // Each of two nodes grants one caller a quarter; each session keeps its newest events up to 4 KB.
  expect(await bytesIn(cluster, sessions)).toBeLessThan((2 * UNSENT) / 4 + SESSIONS * 4096)
  for (const session of sessions) expect((await keptFor(cluster, session)).lengths).not.toEqual([])
})

test('a client that missed notifications which are discarded cannot resume, and a new stream has those that are left', async () => {
  const cluster = await startNodes({ define, limits: { unsentBytes: 20_000 } })
  const [one, two] = cluster.nodes as [TestNode, TestNode]
  const [session] = (await watching(cluster, 1)) as [Session]
  const stream = await at(one, session).get()
  await announce(cluster, [session], 2)
  await stream.until(({ messages }) => messages.length === 2)
  const ids = stream.events.map(({ id }) => String(id))
  stream.drop()
  await announce(cluster, [session], 10)
  const { first, lengths } = await keptFor(cluster, session)
  expect(first).toBeGreaterThan(Number(ids.at(-1)?.split('_')[1]) + 1)
  expect(await (await at(two, session).get(ids.at(-1))).end()).toMatchObject({ status: 400 })
  const next = await at(two, session).get()
  await next.until(({ messages }) => messages.length === lengths.length)
  next.drop()
})

test('without pressure a stream keeps everything, so that a client misses nothing', async () => {
  const cluster = await startNodes({ define })
  const two = cluster.nodes[1] as TestNode
  const [session] = (await watching(cluster, 1)) as [Session]
  const stream = await at(two, session).get()
  await announce(cluster, [session], 1)
  await stream.until(({ messages }) => messages.length === 1)
  const id = String(stream.events.at(-1)?.id)
  stream.drop()
  await announce(cluster, [session], 30)
  const resumed = await at(two, session).get(id)
  await resumed.until(({ messages }) => messages.length === 30)
  expect((await keptFor(cluster, session)).first).toBe(0)
  resumed.drop()
})
