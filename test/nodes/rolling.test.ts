import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Client, type ConnectOptions } from '../../src/client.ts'
import { createServer, type App } from '../../src/index.ts'
import { redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { startRedis } from '../harness/redis.ts'
import { TcpRoundRobin } from './tcp-proxy.ts'

const NUMBER = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
const CLIENTS = 4

interface Node {
  readonly app: App
  readonly port: number
  stop(): Promise<void>
}

/** How often each call ran, at all nodes together. */
type Runs = Map<number, number>

async function startNode(store: StoreDriver, runs: Runs): Promise<Node> {
  const app = createServer({ name: 'rolling', version: '1', log: () => undefined, store })
  app.tool('step', { input: NUMBER }, async ({ n }, { progress }) => {
    runs.set(n, (runs.get(n) ?? 0) + 1)
    progress(1)
    await new Promise((resolve) => setTimeout(resolve, n % 7))
    progress(2)
    return String(n)
  })
  const { url } = await app.listen({ http: { port: 0, sse: true }, ws: true })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= app.close().then(() => store.close()))
  onTestFinished(stop)
  return { app: app as unknown as App, port: Number(new URL(url as string).port), stop }
}

async function storesOf(kind: 'Redis' | 'SQLite'): Promise<() => StoreDriver> {
  if (kind === 'Redis') {
    const server = await startRedis()
    onTestFinished(() => server.close())
    return () => redis(server.url)
  }
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-rolling-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () => sqlite(join(folder, 'nodes.db'), { shared: true })
}

/** Calls until it is told to stop; gives the number of calls. */
async function callOn(client: Client, first: number, isOver: () => boolean): Promise<number> {
  let n = first
  for (; !isOver(); n++) expect(await client.call('step', { n })).toBe(String(n))
  return n - first
}

const WAYS = [
  ['HTTP', (port: number) => `http://127.0.0.1:${port}/mcp`, { revision: '2025-11-25' }],
  [
    'HTTP at the newest revision',
    (port: number) => `http://127.0.0.1:${port}/mcp`,
    { revision: '2026-07-28' },
  ],
  ['WebSocket', (port: number) => `ws://127.0.0.1:${port}/mcp`, { revision: '2025-11-25' }],
  [
    'WebSocket at the newest revision',
    (port: number) => `ws://127.0.0.1:${port}/mcp`,
    { revision: '2026-07-28' },
  ],
  ['HTTP+SSE', (port: number) => `http://127.0.0.1:${port}/sse`, { revision: '2024-11-05' }],
] as const satisfies readonly (readonly [string, (port: number) => string, ConnectOptions])[]

for (const kind of ['Redis', 'SQLite'] as const)
  test.each(WAYS)(
    `three nodes that share ${kind} stop one after the other, and callers over %s see no error`,
    { timeout: 60_000 },
    async (_, urlOf, options) => {
      const store = await storesOf(kind)
      const runs: Runs = new Map()
      const nodes = [
        await startNode(store(), runs),
        await startNode(store(), runs),
        await startNode(store(), runs),
      ]
      const proxy = await new TcpRoundRobin(nodes.map(({ port }) => port)).listen()
      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, () => connect(urlOf(proxy.port), options)),
      )
      onTestFinished(() => Promise.all(clients.map((client) => client.close())).then(() => undefined))
      let isOver = false
      let done = 0
      const calling = clients.map((client, which) => callOn(client, which * 1_000_000, () => isOver))
      const all = Promise.all(calling).then((counts) => void (done = counts.reduce((a, b) => a + b)))
      const rolling = (async () => {
        for (const [which, node] of nodes.entries()) {
          const before = runs.size
          await expect.poll(() => runs.size, { timeout: 20_000 }).toBeGreaterThan(before + 20)
          const next = await startNode(store(), runs)
          await node.stop()
          proxy.ports[which] = next.port
        }
        const before = runs.size
        await expect.poll(() => runs.size, { timeout: 20_000 }).toBeGreaterThan(before + 20)
        isOver = true
      })()
      await Promise.race([all, rolling])
      await Promise.all([all, rolling])
      expect(runs.size).toBe(done)
      expect([...runs.values()].every((count) => count === 1)).toBe(true)
    },
  )
