import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import { postgres, redis, sqlite, type StoreDriver } from '../../src/stores.ts'
import { testClient } from '../../src/testing.ts'
import { Door } from '../harness/door.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-accepted-'))
let redisServer: TestRedis
let postgresServer: TestPostgres
beforeAll(async () => {
  ;[redisServer, postgresServer] = await Promise.all([startRedis(), startPostgres()])
}, 60_000)
afterAll(async () => {
  await Promise.all([redisServer.close(), postgresServer.close()])
  rmSync(folder, { recursive: true, force: true })
})

const STORES = {
  SQLite: (name) => sqlite(join(folder, `${name}.db`)),
  Redis: (prefix) => redis({ url: redisServer.url, prefix, commandTimeout: '30s' }),
  PostgreSQL: (schema) => postgres({ connectionString: postgresServer.url, schema, commandTimeout: '30s' }),
} satisfies Readonly<Record<string, (name: string) => StoreDriver>>

/** The time of tokens from before a revocation. */
const EARLIER = 1000
const named = z.object({ id: z.string() })

/** A server as another process with the same store would have it. Its tool runs one handler at once, and cannot be repeated. */
function started(store: StoreDriver, door: Door, begun: string[]): App {
  const app = createServer({
    name: 'accepted',
    version: '1',
    store,
    log: () => undefined,
    limits: { drainMs: 50 },
  }).tool(
    'work',
    { input: named, task: { mode: 'required', concurrency: 1 } },
    async ({ id }, { signal }) => {
      begun.push(id)
      door.open(`${id} begun`)
      const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve))
      await Promise.race([door.pass(id), stopped])
      return id
    },
  )
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  return app as unknown as App
}

describe.each(Object.entries(STORES))('tasks in %s', (_, open) => {
  test('that wait for a place when their process stops run in the next one', async () => {
    const [name, door, begun] = [`s-${crypto.randomUUID()}`, new Door(), [] as string[]]
    const first = started(open(name), door, begun)
    const client = await testClient(first, { auth: { sub: 'ann' } })
    const tasks = []
    for (const id of ['a', 'b', 'c']) tasks.push(await client.start('work', { id }))
    await door.pass('a begun')
    await client.close()
    await first.close()
    for (const id of ['b', 'c']) door.open(id)
    const next = await testClient(started(open(name), door, begun), { auth: { sub: 'ann' } })
    const results = tasks.map(async ({ id = '' }) => (await next.resume(id)).result().catch((error) => error))
    expect(await Promise.all(results)).toMatchObject([{ kind: 'task_lost' }, 'b', 'c'])
    // Tasks that are due at the same time have no order.
    expect(begun.toSorted()).toEqual(['a', 'b', 'c'])
    await next.close()
  })

  test.each(['awaits it', 'closes at once'])(
    'of a caller end when a program that serves nobody revokes it, and %s',
    async (way) => {
      const [name, door, begun] = [`s-${crypto.randomUUID()}`, new Door(), [] as string[]]
      const app = started(open(name), door, begun)
      const client = await testClient(app, { auth: { sub: 'ann' } })
      const ids = []
      for (const id of ['a', 'b']) ids.push((await client.start('work', { id })).id as string)
      await door.pass('a begun')
      const store = open(name)
      const program = createServer({ name: 'accepted', version: '1', store, log: () => undefined })
      const revoked = program.revoke({ sub: 'ann' })
      if (way === 'awaits it') await revoked
      else await program.close()
      const found = await Promise.all(ids.map(async (id) => (await store.tasks.head(id))?.status))
      expect(found).toEqual(['cancelled', 'cancelled'])
      await program.close()
      await store.close()
      await client.close()
    },
  )
})

describe.each(['SQLite', 'Redis'] as const)('a revocation in %s', (kind) => {
  const open = (name: string): StoreDriver =>
    kind === 'SQLite' ? sqlite(join(folder, `${name}.db`), { shared: true }) : STORES.Redis(name)

  /** A node whose clients could connect. */
  async function node(name: string): Promise<App> {
    const app = started(open(name), new Door(), [])
    await app.listen({ http: { port: 0 } })
    return app
  }
  const isRevoked = (app: App): boolean => serviceOf(app).leases.isRevoked({ sub: 'ann' }, EARLIER)

  test.each([
    ['by a program that is no node', 'awaits it'],
    ['by a program that is no node', 'closes at once'],
    ['by a server before it listens', 'awaits it'],
  ])('%s, which %s, reaches nodes that run and those that start later', async (who, way) => {
    const name = `s-${crypto.randomUUID()}`
    const running = await node(name)
    const program = started(open(name), new Door(), [])
    const revoked = program.revoke({ sub: 'ann' })
    if (who.includes('listens')) await program.listen({ http: { port: 0 } })
    if (way === 'awaits it') await revoked
    else await program.close()
    const later = await node(name)
    expect(isRevoked(later)).toBe(true)
    await expect.poll(() => isRevoked(running)).toBe(true)
  })
})
