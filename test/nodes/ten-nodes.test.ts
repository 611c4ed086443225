import { expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { redis } from '../../src/stores.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'
import { RoundRobin } from './proxy.ts'

const NODES = 10
const CLIENTS = 8
const NOTE = 'note://a'

interface SmallNode {
  readonly app: App
  readonly port: number
  /** Ends its connection to Redis and its listener without a word, as a crash does. */
  fail(): Promise<void>
}

async function startNode({ url }: TestRedis, name: string): Promise<SmallNode> {
  const store = redis({ url, warn: () => undefined })
  const app = createServer({
    name: 'ten',
    version: '1',
    log: () => undefined,
    store,
    limits: { drainMs: 5000 },
  })
  app.tool('count', {}, async (_, { session }) => {
    const count = ((await session?.get<number>('count')) ?? 0) + 1
    await session?.set('count', count)
    return `${count} ${name}`
  })
  app.resource(NOTE, {}, () => 'a')
  const { url: at } = await app.listen({ http: { port: 0 } })
  let isOver = false
  const end = async (): Promise<void> => {
    if (isOver) return
    isOver = true
    await app.close()
    await store.close()
  }
  onTestFinished(end)
  const fail = async (): Promise<void> => {
    await store.close()
    await end()
  }
  return { app, port: Number(new URL(at as string).port), fail }
}

/** A client that counts its calls without a pause; a call that was lost with its node is sent again, and may have run. */
async function callOnAndOn(client: Client, seen: Set<string>, isOver: () => boolean): Promise<void> {
  let last = 0
  let lost = 0
  while (!isOver()) {
    const said = (await client.call('count').catch(() => undefined)) as string | undefined
    if (said === undefined) {
      lost++
      continue
    }
    const [count, node] = said.split(' ')
    // Each answer is that of the same session, whose count grows by one for each call that ran.
    expect(Number(count)).toBeGreaterThan(last)
    expect(Number(count)).toBeLessThanOrEqual(last + 1 + lost)
    last = Number(count)
    lost = 0
    seen.add(node!)
  }
  expect(last).toBeGreaterThan(0)
}

test(
  'ten nodes join, leave and fail under load: every session goes on, and every change is heard [S2-11.3-5]',
  { timeout: 120_000 },
  async () => {
    const store = await startRedis()
    onTestFinished(() => store.close())
    const nodes = [await startNode(store, '1')]
    const proxy = await new RoundRobin([nodes[0]!.port]).listen()
    onTestFinished(() => proxy.close())
    const clients: Client[] = []
    const heard = Array.from({ length: CLIENTS }, () => 0)
    for (let each = 0; each < CLIENTS; each++) {
      const client = await connect(proxy.url, {
        revision: '2025-11-25',
        recovery: { first: '5ms', tries: 20 },
      })
      onTestFinished(() => client.close())
      await client.subscribe(NOTE, () => void heard[each]!++)
      clients.push(client)
    }
    const seen = new Set<string>()
    let isOver = false
    const load = clients.map((client) => callOnAndOn(client, seen, () => isOver))
    const allHear = async (node: SmallNode): Promise<void> => {
      const before = [...heard]
      node.app.updated(NOTE)
      await expect
        .poll(() => heard.every((count, each) => count > before[each]!), { timeout: 20_000 })
        .toBe(true)
    }

    // They join one after the other, and each is used and heard.
    for (let number = 2; number <= NODES; number++) {
      const node = await startNode(store, `${number}`)
      nodes.push(node)
      proxy.join(node.port)
      await expect.poll(() => seen.has(`${number}`), { timeout: 20_000 }).toBe(true)
      await allHear(node)
    }
    expect(seen.size).toBe(NODES)

    // Three leave in good order.
    for (const { app, port } of nodes.splice(0, 3)) {
      proxy.leave(port)
      await app.close()
      await allHear(nodes[0]!)
    }

    // Three fail: the proxy loses their connections.
    for (const { port, fail } of nodes.splice(0, 3)) {
      proxy.remove(port)
      await fail()
      await allHear(nodes[0]!)
    }

    seen.clear()
    await expect.poll(() => seen.size, { timeout: 20_000 }).toBe(nodes.length)
    isOver = true
    await Promise.all(load)
  },
)
