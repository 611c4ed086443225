import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { connect, type Client } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'
import { redis } from '../../src/stores.ts'
import { freePort } from '../harness/free-port.ts'
import { startRedis } from '../harness/redis.ts'
import { startNginx } from './nginx.ts'

interface Node {
  stop(): Promise<void>
}

/** How long a node is away; nginx sends several requests to it meanwhile. */
const AWAY_MS = 500
/** After a failure nginx takes a server for dead for ten seconds, unless told otherwise. */
const NGINX_MS = 10_000

async function startNode(url: string, port: number): Promise<Node> {
  const store = redis(url)
  const app = createServer({ name: 'harbour', version: '1', log: () => undefined, store })
  app.tool('tide', { hints: { readOnly: true } }, () => 'low')
  await app.listen({ http: { port } })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= app.close().then(() => store.close()))
  onTestFinished(stop)
  return { stop }
}

/** Calls until it is told to stop; gives the errors. */
async function callOn(client: Client, isOver: () => boolean): Promise<readonly string[]> {
  const errors: string[] = []
  while (!isOver()) {
    await client.call('tide').catch((error: Error) => errors.push(error.message))
    await sleep(5)
  }
  return errors
}

test.each(['2025-11-25', '2026-07-28'] as const)(
  'two nodes behind nginx restart one right after the other, and callers at %s see no error',
  async (revision) => {
    const shared = await startRedis()
    onTestFinished(() => shared.close())
    const ports = [await freePort(), await freePort()]
    const nodes = await Promise.all(ports.map((port) => startNode(shared.url, port)))
    const url = await startNginx(ports)
    const clients = await Promise.all([1, 2, 3].map(() => connect(url, { revision })))
    onTestFinished(() => Promise.all(clients.map((client) => client.close())).then(() => undefined))
    for (const client of clients) await client.tools().toArray()
    let isOver = false
    const calling = clients.map((client) => callOn(client, () => isOver))
    const since = performance.now()
    for (const [at, node] of nodes.entries()) {
      await node.stop()
      await sleep(AWAY_MS)
      await startNode(shared.url, ports[at] as number)
    }
    expect(performance.now() - since).toBeLessThan(NGINX_MS)
    await sleep(AWAY_MS)
    isOver = true
    expect((await Promise.all(calling)).flat()).toEqual([])
  },
)
