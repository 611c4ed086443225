import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createServer, type App } from '../../src/index.ts'
import { serviceOf } from '../../src/app/app.ts'
import { mcpError } from '../../src/errors/error.ts'
import { SOON } from '../../src/errors/retry-after.ts'
import { STORE_UNREACHABLE } from '../../src/errors/store.ts'
import { postgres, redis, sqlite, type StoreDriver, type TaskHead, type TaskStore } from '../../src/stores.ts'
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

/** The same store, whose step is done, and then fails once as if its answer had been lost. `after` runs in between. */
function losing(driver: StoreDriver, step: 'create' | 'claim', after?: () => Promise<unknown>): StoreDriver {
  let isLost = false
  const tasks = new Proxy(driver.tasks as TaskStore, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const act = member.bind(target) as (...args: readonly unknown[]) => unknown
      if (name !== step) return act
      return async (...args: readonly unknown[]) => {
        const answer = await act(...args)
        if (isLost || (Array.isArray(answer) && answer.length === 0)) return answer
        isLost = true
        await after?.()
        throw mcpError(STORE_UNREACHABLE, {}, SOON)
      }
    },
  })
  return { ...driver, tasks }
}

/** A server whose tool has keys. */
function keyed(store: StoreDriver, begun: string[]): App {
  const app = createServer({ name: 'accepted', version: '1', store, log: () => undefined }).tool(
    'work',
    { input: named, task: { mode: 'required', key: ({ id }) => id } },
    ({ id }) => {
      begun.push(id)
      return id
    },
  )
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  return app as unknown as App
}

describe.each(Object.entries(STORES))('a step with %s whose answer is lost', (_, open) => {
  test('leaves no task behind that a repeated call with its key would wait for', async () => {
    const begun: string[] = []
    const app = keyed(losing(open(`s-${crypto.randomUUID()}`), 'create'), begun)
    const client = await testClient(app, { auth: { sub: 'ann' } })
    await expect(client.call('work', { id: 'a' })).rejects.toMatchObject({ retryable: true })
    expect(await client.call('work', { id: 'a' })).toBe('a')
    expect(begun).toEqual(['a'])
    await client.close()
  })

  test('loses no task that it has claimed, even if somebody changes that since', async () => {
    const [name, door, begun] = [`s-${crypto.randomUUID()}`, new Door(), [] as string[]]
    const first = started(open(name), door, begun)
    const client = await testClient(first, { auth: { sub: 'ann' } })
    await client.start('work', { id: 'a' })
    const { id = '' } = await client.start('work', { id: 'b' })
    await door.pass('a begun')
    await client.close()
    await first.close()
    const other = open(name)
    onTestFinished(() => other.close())
    const change = async (): Promise<unknown> => {
      const head = (await other.tasks.head(id)) as TaskHead
      return other.tasks.change(id, head.version, { isShared: true })
    }
    door.open('b')
    const next = started(losing(open(name), 'claim', change), door, begun)
    const again = await testClient(next, { auth: { sub: 'ann' } })
    expect(await (await again.resume(id)).result()).toBe('b')
    expect((await other.tasks.head(id))?.isShared).toBe(true)
    await again.close()
  })
})

test('a task that Redis creates after its caller has got an error does not keep its key', async () => {
  const begun: string[] = []
  const prefix = crypto.randomUUID()
  const store = redis({ url: redisServer.url, prefix, commandTimeout: '500ms', warn: () => undefined })
  const client = await testClient(keyed(store, begun), { auth: { sub: 'ann' } })
  await client.call('work', { id: 'before' })
  await redisServer.send('CLIENT', 'PAUSE', '1500', 'WRITE')
  await expect(client.call('work', { id: 'a' })).rejects.toThrow(/store|server/)
  const again = async (): Promise<unknown> => client.call('work', { id: 'a' }).catch(() => undefined)
  await expect.poll(again, { timeout: 50_000 }).toBe('a')
  expect(begun).toEqual(['before', 'a'])
  await client.close()
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
