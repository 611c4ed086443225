import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServer, type App } from '../../src/index.ts'
import { writeMessage, type NodeMessage } from '../../src/nodes/messages.ts'
import type { ChangeBus } from '../../src/rpc/change-bus.ts'
import { redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { parentStore, type ParentStore } from '../../src/workers/parent-store.ts'
import { openParentStores, StoreGuest } from '../../src/workers/store-host.ts'
import { startRedis } from '../harness/redis.ts'
import { message } from '../http/messages.ts'
import { open, Session } from '../http/server.ts'
import type { Stream } from '../http/wire.ts'

const SERVER = 'sleeping'
const LISTED = 'notifications/tools/list_changed'
const LAST = 'notifications/resources/list_changed'
const UPDATED = 'notifications/resources/updated'
/** Each round has one change of a list, and the messages of others. */
const ROUNDS = 55
const AT_ONCE = 200

interface Node {
  readonly app: App
  readonly port: number
  stop(): Promise<void>
}

async function startNode(store: StoreDriver): Promise<Node> {
  const app = createServer({ name: SERVER, version: '1', log: () => undefined, store })
    .tool('t', {}, () => 't')
    .resource('note://a', {}, () => 'a')
  const { url } = await app.listen({ http: { port: 0 } })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= app.close().then(() => store.close()))
  onTestFinished(stop)
  return { app: app as unknown as App, port: Number(new URL(url as string).port), stop }
}

/** Opens the stores of a parent process as its workers see them. */
function parentStores(): () => StoreDriver {
  const stores = openParentStores()
  return () => {
    const guest = new StoreGuest(stores, () => {
      const news = guest.takeNews()
      if (news !== undefined) setImmediate(() => own.onNews(news))
    })
    const own: ParentStore = parentStore({
      step: async (name, args) => guest.step(name, args),
      watch: (...args) => guest.watch(...args),
      unwatch: (number) => guest.unwatch(number),
    })
    return own.driver as unknown as StoreDriver
  }
}

async function storesOf(kind: string): Promise<() => StoreDriver> {
  if (kind === 'a parent process') return parentStores()
  if (kind === 'Redis') {
    const server = await startRedis('--appendfsync', 'everysec')
    onTestFinished(() => server.close())
    return () => redis(server.url)
  }
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-sleeping-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () => sqlite(join(folder, 'nodes.db'), { shared: true, synchronous: 'normal' })
}

/** What other clients cause, as often as in a test with thousands of them: two fifths are changes of resources. */
function someMessage(number: number): NodeMessage {
  const session = `other-${number}`
  const change = { kind: 'resource', uri: `note://other/${number}` } as const
  const kinds: readonly NodeMessage[] = [
    { kind: 'changed', change },
    { kind: 'attached', session },
    { kind: 'changed', change },
    { kind: 'subscribed', session, added: [change.uri], removed: [] },
    { kind: 'answered', session, answer: { id: number, result: {} } },
  ]
  return kinds[number % kinds.length] as NodeMessage
}

/** Publishes messages of other clients, no faster than they are read. */
class Others {
  readonly #bus: ChangeBus
  #count = 0
  #read = 0
  #onRead: () => void = () => undefined

  constructor(bus: ChangeBus) {
    this.#bus = bus
  }

  async listen(): Promise<() => void> {
    return this.#bus.subscribe(
      await this.#bus.position(),
      ({ position }) => this.#reach(position),
      (position) => this.#reach(position),
    )
  }

  async publish(count: number, messageOf = someMessage): Promise<void> {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const messages = Array.from({ length: Math.min(AT_ONCE, left) }, () => messageOf(++this.#count))
      const texts = messages.map((one) => writeMessage({ server: SERVER, sender: 'other', message: one }))
      const newest = Math.max(...(await Promise.all(texts.map(async (text) => this.#bus.publish(text)))))
      // The nodes of this test share a process, so each of them needs a turn.
      await new Promise((resolve) => setImmediate(resolve))
      while (this.#read < newest) await new Promise<void>((resolve) => (this.#onRead = resolve))
    }
  }

  #reach(position: number): void {
    this.#read = position
    this.#onRead()
  }
}

const count = ({ messages }: Stream, wanted: string): number =>
  messages.filter(({ method }) => method === wanted).length

async function subscribed(node: Node): Promise<Session> {
  const session = await open(node.port, '2025-06-18')
  await session.post(message('notifications/initialized'))
  await session.post(message('resources/subscribe', { uri: 'note://a' }, 3))
  return session
}

describe.each([
  ['a parent process', 50_000],
  ['Redis', 50_000],
  ['SQLite', 15_000],
])('with the stores of %s, a session that sleeps', (kind, others) => {
  test('hears each change once, whatever else the nodes told each other', { timeout: 120_000 }, async () => {
    const store = await storesOf(kind)
    const own = store()
    const clients = new Others(own.changes as ChangeBus)
    onTestFinished(await clients.listen())
    onTestFinished(() => own.close())
    const first = await startNode(store())
    const session = await subscribed(first)
    let writer = await startNode(store())
    await first.stop()
    const each = Math.ceil(others / ROUNDS)
    for (let round = 0; round < ROUNDS; round++) {
      await clients.publish(each)
      writer.app.changed('tools')
      if (round === 10 || round === 40) writer.app.updated('note://a')
      await writer.app.announced()
      if (round % 20 !== 15) continue
      const next = await startNode(store())
      await writer.stop()
      writer = next
    }
    const last = await startNode(store())
    const stream = await new Session(last.port, session.headers).get()
    // The last change of all, which nothing else announces.
    last.app.changed('resources')
    await stream.until((got) => count(got, LAST) > 0)
    expect([stream.messages.length, count(stream, LISTED), count(stream, UPDATED)]).toEqual([
      ROUNDS + 2 + 1,
      ROUNDS,
      2,
    ])
  })

  test.each([0, 2])(
    'hears each change once if the node that ended its handshake stopped after %i of them',
    async (before) => {
      const store = await storesOf(kind)
      const [first, second] = [await startNode(store()), await startNode(store())]
      const session = await open(first.port, '2025-06-18')
      await new Session(second.port, session.headers).post(message('notifications/initialized'))
      for (let change = 0; change < 4; change++) {
        if (change === before) await second.stop()
        first.app.changed('tools')
        await first.app.announced()
      }
      const stream = await session.get()
      first.app.changed('resources')
      await stream.until((got) => count(got, LAST) > 0)
      expect(stream.messages.map(({ method }) => method)).toEqual([LISTED, LISTED, LISTED, LISTED, LAST])
    },
  )
})

test('a session that sleeps while very many resources change hears each change of a list, and that its resources may have changed', async () => {
  const store = parentStores()
  const own = store()
  const clients = new Others(own.changes as ChangeBus)
  onTestFinished(await clients.listen())
  const first = await startNode(store())
  const session = await subscribed(first)
  const second = await startNode(store())
  await first.stop()
  for (let round = 0; round < 3; round++) {
    second.app.changed('tools')
    await second.app.announced()
    await clients.publish(20_000, (number) => ({
      kind: 'changed',
      change: { kind: 'resource', uri: `note://other/${number}` },
    }))
  }
  const last = await startNode(store())
  const stream = await new Session(last.port, session.headers).get()
  last.app.changed('resources')
  await stream.until((got) => count(got, LAST) > 0)
  expect(stream.messages.map(({ method }) => method)).toEqual([LISTED, LISTED, LISTED, UPDATED, LAST])
})
