import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'
import { call, message } from '../http/messages.ts'
import { Gate, open, Session } from '../http/server.ts'
import type { Stream } from '../http/wire.ts'

const TOKEN = { progressToken: 't' }
const FORMS = { elicitation: { form: {} } }

interface Node {
  readonly app: App
  readonly port: number
}

/** A node with a driver of its own, as if it were another process. */
async function startNode(store: StoreDriver, gate: Gate): Promise<Node> {
  const app = createServer({ name: 'real', version: '1', log: () => undefined, store })
    .tool('ask', {}, async (_, { elicit }) => {
      const { content } = await elicit('Name?', z.object({ name: z.string() }))
      return `Hello, ${content?.name}!`
    })
    .tool('long', {}, async (_, { progress }) => {
      for (let step = 1; step <= 5; step++) progress(step)
      gate.enter()
      await gate.opened
      return 'done'
    })
    .tool('keep', {}, async (_, { session }) => {
      const last = (await session?.get<number>('count')) ?? 0
      await session?.set('count', last + 1)
      return String(last + 1)
    })
    .resource('note://a', {}, () => 'a')
  const { url } = await app.listen({ http: { port: 0 } })
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  return { app: app as unknown as App, port: Number(new URL(url as string).port) }
}

const at = ({ port }: Node, session: Session): Session => new Session(port, session.headers)
const idsOf = ({ events }: Stream): readonly string[] => events.map(({ id }) => id as string)
const textOf = ({ json }: { readonly json: JsonObject }): unknown =>
  (json['result'] as { readonly content: readonly [{ readonly text: string }] }).content[0].text

async function startAll(kind: 'Redis' | 'SQLite', gate: Gate): Promise<readonly [Node, Node, Node]> {
  let store: () => StoreDriver
  if (kind === 'Redis') {
    const server = await startRedis()
    onTestFinished(() => server.close())
    store = () => redis(server.url)
  } else {
    const folder = mkdtempSync(join(tmpdir(), 'pierhead-nodes-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    store = () => sqlite(join(folder, 'nodes.db'), { shared: true })
  }
  return [await startNode(store(), gate), await startNode(store(), gate), await startNode(store(), gate)]
}

describe.each(['Redis', 'SQLite'] as const)('three nodes that share %s', (kind) => {
  test('serve each session together: values, questions, changes, streams and the end', async () => {
    const gate = new Gate()
    const [one, two, three] = await startAll(kind, gate)
    const session = await open(one.port, '2025-11-25', FORMS)
    await at(two, session).post(message('notifications/initialized'))
    for (const [which, node] of [one, two, three, one].entries())
      expect(textOf(await at(node, session).post(call('keep')))).toBe(String(which + 1))

    const asked = await at(two, session).stream(call('ask'))
    await asked.until(({ messages }) => messages.length === 1)
    const { id } = asked.messages[0] as JsonObject
    const result = { action: 'accept', content: { name: 'Ann' } }
    await at(three, session).post(JSON.stringify({ jsonrpc: '2.0', id, result }))
    await asked.end()
    expect(asked.messages.at(-1)).toMatchObject({ result: { content: [{ text: 'Hello, Ann!' }] } })

    await at(three, session).post(message('resources/subscribe', { uri: 'note://a' }, 5))
    const stream = await at(two, session).get()
    expect((await at(three, session).get()).status).toBe(409)
    for (const { app } of [one, two, three]) {
      const before = stream.messages.length
      app.updated('note://a')
      await stream.until(({ messages }) => messages.length > before)
    }
    expect(stream.messages).toHaveLength(3)
    const moved = await at(one, session).get(idsOf(stream)[1])
    await moved.until(({ messages }) => messages.length === 2)
    expect(idsOf(moved).slice(0, 2)).toEqual(idsOf(stream).slice(2))
    await stream.end()

    const running = await at(three, session).stream(call('long', {}, 9, TOKEN))
    await running.until(({ events }) => events.length === 6)
    const resumed = await Promise.all(idsOf(running).map((last) => at(one, session).get(last)))
    gate.open()
    await Promise.all([running, ...resumed].map((each) => each.end()))
    for (const [which, each] of resumed.entries())
      expect(idsOf(each)).toEqual(idsOf(running).slice(which + 1))

    expect((await at(two, session).delete()).status).toBe(200)
    await moved.end()
    for (const node of [one, two, three])
      expect((await at(node, session).post(call('keep'))).status).toBe(404)
  })
})

test('when Redis restarts, requests meanwhile are 503, and streams go on without a loss', async () => {
  const gate = new Gate()
  const server: TestRedis = await startRedis()
  onTestFinished(() => server.close())
  const [one, two] = [await startNode(redis(server.url), gate), await startNode(redis(server.url), gate)]
  const session = await open(one.port)
  await session.post(message('notifications/initialized'))
  const stream = await at(two, session).get()
  await stream.until(({ events }) => events.length === 1)
  const running = await session.stream(call('long', {}, 9, TOKEN))
  await running.until(({ events }) => events.length === 6)
  const resumed = await at(two, session).get(idsOf(running)[0])
  await resumed.until(({ events }) => events.length === 5)
  await server.kill()
  const refused = await at(two, session).post(call('keep'))
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
  one.app.changed('tools')
  gate.open()
  await running.end()
  await server.restart()
  await resumed.end()
  expect(idsOf(resumed)).toEqual(idsOf(running).slice(1))
  await stream.until(({ messages }) => messages.length === 1)
  await expect.poll(async () => (await at(two, session).post(call('keep'))).status).toBe(200)
})
