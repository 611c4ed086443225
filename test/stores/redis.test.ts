import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { pause } from '../../src/base/backoff.ts'
import { openRedis } from '../../src/store/redis.ts'
import { redis, type RedisOptions, type StoreDriver } from '../../src/stores.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'
import { KITS } from './kits.ts'

const LONG_MS = 3_600_000
const ROOM = { events: 100, bytes: 100_000, idleMs: LONG_MS }

let server: TestRedis
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.close())

const silent = (): void => {}

function opened(options: RedisOptions = {}): ReturnType<typeof redis> {
  const where = options.client === undefined ? { url: server.url } : {}
  const driver = redis({ ...where, prefix: crypto.randomUUID(), warn: silent, ...options })
  onTestFinished(() => driver.close())
  return driver
}

describe.each(Object.entries(KITS))('%s in Redis', (_kind, kit) => {
  const open = (prefix: string): StoreDriver => redis({ url: server.url, prefix, warn: silent })

  test.each(kit({ open, shared: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe('a cluster', () => {
  let node: TestRedis
  let client: Cluster
  beforeAll(async () => {
    node = await startRedis('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1')
    await node.send('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    while (!(await node.send('CLUSTER', 'INFO')).includes('cluster_state:ok')) await pause(20)
    client = new Cluster([{ host: '127.0.0.1', port: node.port }])
    client.on('error', silent)
  })
  afterAll(async () => {
    client.disconnect()
    await node.close()
  })

  // A cluster of one node rejects steps whose keys would be on different nodes of a larger one.
  describe.each(Object.entries(KITS))('%s', (_kind, kit) => {
    const open = (prefix: string): StoreDriver => redis({ client, prefix, warn: silent })

    test.each(kit({ open, shared: true }))('$name', async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    })
  })

  test('while it is away, steps fail; they work again when it is back', async () => {
    const { cache, changes } = opened({ client, commandTimeout: '1s' })
    const got: string[] = []
    await changes.subscribe(0, ({ text }) => void got.push(text), silent)
    await cache.set('a', '1', LONG_MS)
    await node.kill()
    const away = { kind: 'store_unreachable' }
    for (const step of [cache.get('a'), changes.publish('a')]) await expect(step).rejects.toMatchObject(away)
    await node.restart()
    await expect.poll(async () => Promise.resolve(cache.get('a')).catch(() => undefined)).toBe('1')
    await expect.poll(async () => Promise.resolve(changes.publish('b')).catch(() => 0)).toBeGreaterThan(0)
    await expect.poll(() => got).toContain('b')
  })
})

test('the options of a client can be used, and the client stays open', async () => {
  const client = new Redis(server.url, { keyPrefix: 'mine:', lazyConnect: true })
  onTestFinished(() => client.disconnect())
  const prefix = crypto.randomUUID()
  const driver = opened({ client, prefix })
  await driver.cache.set('a', '1', LONG_MS)
  expect(await opened({ prefix }).cache.get('a')).toBe('1')
  await driver.close()
  expect(await client.ping()).toBe('PONG')
})

test('a prefix keeps drivers apart', async () => {
  const [one, two] = [opened(), opened()]
  await one.cache.set('a', '1', LONG_MS)
  await one.changes.publish('a')
  expect(await two.cache.get('a')).toBeUndefined()
  expect(await two.changes.position()).toBe(0)
})

test('a closed driver fails, and closing again does nothing', async () => {
  const driver = opened()
  await driver.cache.get('a')
  await driver.close()
  await driver.close()
  const closed = expect.objectContaining({ kind: 'store_closed' })
  await expect(driver.cache.get('a')).rejects.toEqual(closed)
  expect(() => driver.events.watch('a', 'b', silent)).toThrow(closed)
  expect(() => driver.changes.subscribe(0, silent, silent)).toThrow(closed)
})

test('keys of a newer version are not touched', async () => {
  const prefix = crypto.randomUUID()
  await opened({ prefix }).cache.set('a', '1', LONG_MS)
  await opened({ prefix }).cache.set('a', '2', LONG_MS)
  await server.send('SET', `${prefix}:{keys}`, '2')
  const failure = { kind: 'store_failed', message: expect.stringContaining('version 2') as string }
  await expect(opened({ prefix }).cache.get('a')).rejects.toMatchObject(failure)
})

test('a bus keeps a number of messages; those that come too late get a gap and what is left', async () => {
  const prefix = crypto.randomUUID()
  const driver = openRedis({ url: server.url, prefix, warn: silent }, { events: 3, bytes: 1000 })
  onTestFinished(() => driver.close())
  for (const text of ['a', 'b', 'c', 'd', 'e']) await driver.changes.publish(text)
  expect(await driver.changes.read(1, 9)).toBeUndefined()
  const got: unknown[] = []
  await driver.changes.subscribe(
    1,
    ({ text }) => void got.push(text),
    (position) => void got.push(position),
  )
  await expect.poll(() => got).toEqual([2, 'c', 'd', 'e'])
  await driver.changes.publish('f'.repeat(2000))
  await expect.poll(() => got.length).toBe(5)
  expect(await driver.changes.read(4, 9)).toBeUndefined()
})

test('uses that follow each other closely are not written', async () => {
  const { sessions } = opened()
  const session = { id: 'a', countedFor: '', fields: new Map<string, string>(), idleMs: LONG_MS }
  await sessions.create(session, { sessions: 9, freshMs: 0 })
  const dirty = async (): Promise<string> =>
    /rdb_changes_since_last_save:(\d+)/.exec(await server.send('INFO', 'persistence'))?.[1] ?? ''
  const changes = await dirty()
  await Promise.all(Array.from({ length: 100 }, async () => sessions.use('a', 1, LONG_MS)))
  // On a busy machine, a second may pass, and one use is written.
  expect(Number(await dirty()) - Number(changes)).toBeLessThan(100)
})

test('no key is left without an end, but those of the bus, the nodes and the version', async () => {
  const prefix = crypto.randomUUID()
  const { sessions, events, changes, cache, rates, nodes } = opened({ prefix })
  const session = { id: 'a', countedFor: 'ada', fields: new Map([['b', 'c']]), idleMs: LONG_MS }
  await sessions.create(session, { sessions: 9, freshMs: 0 })
  await sessions.change('a', new Map([['d', 'e']]))
  await events.open('a', 's', 'node', ROOM)
  await events.append('a', 's', { text: 'b' }, ROOM)
  await changes.publish('a')
  await cache.set('a', 'b', LONG_MS)
  await rates.use('a', 1, LONG_MS)
  await nodes.join({ server: 'films', inMemory: [] }, LONG_MS)
  const client = new Redis(server.url)
  onTestFinished(() => client.disconnect())
  const keys = await client.keys(`${prefix}:*`)
  const endless: string[] = []
  for (const key of keys) if ((await client.pttl(key)) < 0) endless.push(key.slice(prefix.length + 1))
  expect(endless.filter((key) => !/^\{(bus|nodes|keys|sessions)\}/.test(key))).toEqual([])
  await sessions.end('a')
  await events.forget('a')
  expect((await client.keys(`${prefix}:{s*`)).toSorted()).toEqual([])
})

test('numbers of nodes begin again after the highest one, without those of living nodes', async () => {
  const prefix = crypto.randomUUID()
  const { nodes } = opened({ prefix })
  const join = async (): Promise<number> =>
    (await nodes.join({ server: 'films', inMemory: [] }, LONG_MS)).number
  const last = `${prefix}:{nodes}:last`
  await server.send('SET', last, '0')
  expect(await join()).toBe(1)
  await server.send('SET', last, '1999999')
  expect([await join(), await join()]).toEqual([2_000_000, 2])
})
