import { expect, test } from 'vitest'
import type { App } from '../../src/index.ts'
import { call, initialize, message } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { OldClient, open as openStream } from '../sse/server.ts'
import { at, startNodes, type TestNode } from './nodes.ts'

const MANY = 40
const TURNS = 20

function define(app: App): void {
  app
    .resource('note://{name}', {}, () => 'a')
    .tool('step', {}, (_, { progress }) => {
      progress(1, 1)
      return 'stepped'
    })
    .tool('count', {}, async (_, { session }) => {
      await session?.set('count', ((await session.get<number>('count')) ?? 0) + 1)
      return 'counted'
    })
}

/** Makes a node wait for one kind of step; answers how many of them were under way at the same time. */
function watchSteps({ view }: TestNode, name: string): () => number {
  let [running, most] = [0, 0]
  view.delay = async (step) => {
    if (step !== name) return
    most = Math.max(most, ++running)
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  return () => most
}

test('many small requests of one session at once do not fetch it from the store at the same time', async () => {
  const { nodes } = await startNodes({ define })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await open(one.port)
  await session.post(message('notifications/initialized'))
  await session.post(message('resources/subscribe', { uri: `note://${'x'.repeat(8000)}` }, 2))
  const most = watchSteps(two, 'sessions.use')
  const pings = (): Promise<readonly { readonly status: number }[]> =>
    Promise.all(Array.from({ length: MANY }, (_, id) => at(two, session).post(message('ping', {}, id))))
  // First the node does not know the session, and then an older state of it.
  for (let round = 0; round < 2; round++) {
    expect(new Set((await pings()).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await session.post(call('count'))).status).toBe(200)
  }
  expect(most()).toBe(1)
})

test('many requests with an unknown session do not ask the store at the same time', async () => {
  const { nodes } = await startNodes({ define })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await open(one.port)
  expect((await session.delete()).status).toBe(200)
  const most = watchSteps(two, 'sessions.use')
  const replies = await Promise.all(
    Array.from({ length: MANY }, (_, id) => at(two, session).post(message('ping', {}, id))),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([404]))
  expect(most()).toBe(1)
})

test('neither do many messages over HTTP+SSE', async () => {
  const { nodes } = await startNodes({ define, listen: { http: { port: 0, sse: true } } })
  const [one, two] = nodes as [TestNode, TestNode]
  const client = await openStream(one.port)
  await client.post(initialize('2024-11-05'))
  await client.answer(1)
  await client.post(message('notifications/initialized'))
  const most = watchSteps(two, 'sessions.use')
  const elsewhere = new OldClient(two.port, client.stream)
  const replies = await Promise.all(
    Array.from({ length: MANY }, (_, at) => elsewhere.post(message('ping', {}, 10 + at))),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]))
  for (let at = 0; at < MANY; at++) expect(await client.answer(10 + at)).toMatchObject({ result: {} })
  expect(most()).toBe(1)
})

test('many who resume one stream of a session at once do not read it at the same time', async () => {
  const { nodes, stores } = await startNodes({ define })
  const [one, two] = nodes as [TestNode, TestNode]
  const session = await open(one.port)
  await session.post(message('notifications/initialized'))
  const first = await (await session.stream(call('step', {}, 2, { progressToken: 't' }))).end()
  const id = first.events[0]?.id as string
  const [name] = id.split('_') as [string]
  const { events } = stores.kinds
  await expect.poll(async () => (await events.read(session.id, name, -1, 100))?.isOver).toBe(true)
  const most = watchSteps(two, 'events.read')
  const readers = await Promise.all(Array.from({ length: MANY }, () => at(two, session).get(id)))
  for (const reader of readers) expect((await reader.end()).status).toBe(200)
  expect(readers.at(-1)?.messages.at(-1)).toMatchObject({ id: 2, result: {} })
  expect(most()).toBe(1)
})
