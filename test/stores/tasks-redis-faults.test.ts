import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { redis, rejectionOf, type RedisOptions, type TaskRecord, type TaskStore } from '../../src/stores.ts'
import { addTasks, OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { exchangeProxy, type ExchangeProxy } from '../harness/exchanges.ts'
import { startRedis, type TestRedis } from '../harness/redis.ts'

const silent = (): void => {}

let server: TestRedis
let proxy: ExchangeProxy
let client: Redis
beforeAll(async () => {
  server = await startRedis()
  proxy = await exchangeProxy(server.port)
  client = new Redis(server.url)
  client.on('error', silent)
})
afterAll(async () => {
  client.disconnect()
  proxy.close()
  await server.close()
})

interface Place {
  readonly store: TaskStore
  /** The beginning of its keys. */
  readonly base: string
}

function place(options: RedisOptions = {}): Place {
  const prefix = options.prefix ?? crypto.randomUUID()
  const driver = redis({ url: server.url, prefix, commandTimeout: '30s', warn: silent, ...options })
  onTestFinished(() => driver.close())
  return { store: driver.tasks, base: `${prefix}:{tasks}` }
}

const idsOf = (tasks: readonly { readonly id: string }[]): readonly string[] =>
  tasks.map(({ id }) => id).toSorted()

test('each step is one exchange', async () => {
  const { store } = place({ url: `redis://127.0.0.1:${proxy.port}` })
  const [id = ''] = await addTasks(store, 1, () => ({ key: 'k', ttlMs: 1 }))
  const steps: Readonly<Record<string, () => unknown>> = {
    create: () => store.create(sampleTask({ network: '192.0.2.1' }), ROOMY),
    get: () => store.get(id),
    head: () => store.head(id),
    change: () => store.change(id, 1, { status: 'completed', node: '', key: '', outcome: '{}' }, ROOMY),
    list: () => store.list({ status: 'completed', tool: 'render', limit: 100 }),
    claim: () => store.claim('node-2', 1, 9, OWN),
    beat: () => store.beat('node-1', 1),
    expire: () => store.expire(Number.MAX_SAFE_INTEGER, 9),
  }
  for (const [name, step] of Object.entries(steps)) {
    const before = proxy.count
    await step()
    expect([name, proxy.count - before]).toEqual([name, 1])
  }
})

test('steps whose answer is lost are repeated, and done once', async () => {
  const { store } = place({ url: `redis://127.0.0.1:${proxy.port}` })
  await addTasks(store, 1)
  const task = sampleTask({ key: 'k', node: '' })
  const lost = <Answer>(step: () => Answer): Answer => {
    proxy.loseAnswer()
    return step()
  }
  expect(await lost(() => store.create(task, { ...ROOMY, tasks: 2 }))).toEqual({ outcome: 'created' })
  expect(await lost(() => store.change(task.id, 1, { state: '{}' }, ROOMY))).toMatchObject({ version: 2 })
  expect(await lost(() => store.claim('node-2', 1, 9, OWN))).toHaveLength(2)
  expect(await store.head(task.id)).toMatchObject({ version: 3, node: 'node-2' })
  expect(await store.claim('node-3', 1, 9, OWN)).toHaveLength(2)
})

test('a claim whose answer never came is found by the next one', async () => {
  const { store } = place({ url: `redis://127.0.0.1:${proxy.port}`, commandTimeout: '500ms' })
  const ids = await addTasks(store, 3, () => ({ node: '' }))
  await store.beat('node-2', 100)
  // Redis does it, but only after nobody waits any more.
  await client.call('CLIENT', 'PAUSE', '1500', 'WRITE')
  await expect(store.claim('node-2', 1, 9, OWN)).rejects.toMatchObject({ kind: 'store_unreachable' })
  const claim = async (): Promise<readonly TaskRecord[]> =>
    Promise.resolve(store.claim('node-2', 1, 9, OWN)).catch(() => [])
  let claimed: readonly TaskRecord[] = []
  await expect.poll(async () => (claimed = await claim()).length, { timeout: 20_000 }).toBe(3)
  expect(idsOf(claimed)).toEqual(ids.toSorted())
  expect(claimed.map(({ version }) => version)).toEqual([2, 2, 2])
})

test('whatever was answered survives a crash of Redis, and every step goes on after it', async () => {
  const { store } = place()
  const created = await addTasks(store, 20, () => ({ key: crypto.randomUUID() }))
  const heads = Promise.all(
    created.map(async (id) => store.change(id, 1, { status: 'completed', outcome: '{}' })),
  )
  await server.kill()
  const waiting = Promise.all(
    Array.from({ length: 20 }, async () => store.create(sampleTask({ id: crypto.randomUUID() }), ROOMY)),
  )
  await server.restart()
  expect((await heads).map((head) => head?.version)).toEqual(created.map(() => 2))
  expect(await waiting).toHaveLength(20)
  expect(await store.list({ limit: 99 })).toHaveLength(40)
  expect(await store.list({ status: 'completed', limit: 99 })).toHaveLength(20)
  const full = await store.create(sampleTask(), { ...ROOMY, tasks: 40 })
  expect(full).toEqual({ outcome: 'full', limit: 40 })
})

test('watchers hear of what happened while their connection was lost', async () => {
  const prefix = crypto.randomUUID()
  const [{ store }, { store: other }] = [place({ prefix }), place({ prefix })]
  const ids = await addTasks(store, 3)
  const heard = new Set<string>()
  onTestFinished(store.watch((id) => void heard.add(id)))
  await other.change(ids[0] ?? '', 1, { statusMessage: 'm' })
  await expect.poll(() => [...heard]).toEqual([ids[0]])
  await server.send('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await expect.poll(() => [...heard].toSorted()).toEqual(ids.toSorted())
})

test('the rules of room are those of every store', async () => {
  const random = (
    (seed: number) =>
    (most: number): number => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed % most
    }
  )(7)
  const { store, base } = place()
  await addTasks(store, 1)
  const outcomes = new Map<string, number>()
  for (let round = 0; round < 400; round++) {
    const most = 1 + random(40)
    const bytes = 600 + random(20_000)
    const [near, own] = [random(most + 1), random(most + 1)]
    const sums = {
      network: { tasks: near, bytes: near === 0 ? 0 : random(bytes) },
      scope: { tasks: own, bytes: own === 0 ? 0 : random(bytes) },
      all: { tasks: near + own + random(4), bytes: 0 },
    }
    sums.all.bytes = sums.network.bytes + sums.scope.bytes + random(200)
    const holder = { scope: random(3) === 0 ? '' : 'ada', network: random(3) === 0 ? '' : '192.0.2.1' }
    const room = { tasks: most, callerTasks: 1 + random(40), taskBytes: bytes }
    const names = { '': sums.all, 'scope ada': sums.scope, 'network 192.0.2.1': sums.network }
    for (const [name, sum] of Object.entries(names)) {
      await client.hset(`${base}:n`, name, sum.tasks)
      await client.hset(`${base}:b`, name, sum.bytes)
    }
    const task = sampleTask({ ...holder, request: 'x'.repeat(random(2000)) })
    const expected = rejectionOf(holder, task.request.length + 512, sums, room) ?? { outcome: 'created' }
    expect(await store.create(task, room)).toEqual(expected)
    outcomes.set(expected.outcome, (outcomes.get(expected.outcome) ?? 0) + 1)
  }
  expect([...outcomes.keys()].toSorted()).toEqual(['caller_full', 'created', 'full', 'too_large'])
})

test('no key is left when all tasks are gone, but those of nodes, the version and the next number', async () => {
  const { store, base } = place()
  const ids = await addTasks(store, 450, (position) => ({
    ttlMs: 1,
    key: position % 2 === 0 ? `k${position}` : '',
    network: '192.0.2.1',
    node: position % 3 === 0 ? '' : 'node-1',
  }))
  await store.claim('node-2', 1, 20, OWN)
  for (const id of ids.slice(100, 120))
    await store.change(id, (await store.head(id))?.version ?? 0, { status: 'failed', key: 'x' })
  // Scripts take some at a time; the answer has all.
  expect(await store.expire(Number.MAX_SAFE_INTEGER, 1000)).toHaveLength(450)
  const left = (await client.keys(`${base}*`)).map((key) => key.slice(base.length))
  expect(left.toSorted()).toEqual([':seq', ':version'])
})

test('long lists are read in parts, whatever the filter', async () => {
  const { store } = place()
  const ids = await addTasks(store, 450, (position) => ({ tool: position % 10 === 0 ? 'mix' : 'render' }))
  const mixed = ids.filter((_, position) => position % 10 === 0)
  const list = async (query: object): Promise<readonly string[]> =>
    (await store.list({ limit: 1000, ...query })).map(({ id }) => id)
  expect(await list({})).toEqual(ids)
  expect(await list({ scope: 'ada', tool: 'mix' })).toEqual(mixed)
  expect(await list({ status: 'working', tool: 'mix', limit: 3, after: mixed[4] })).toEqual(mixed.slice(5, 8))
})

type Damage = (key: string) => Promise<unknown>
const set =
  (field: string, text: string): Damage =>
  (key) =>
    client.hset(key, field, text)
const DAMAGES: Readonly<Record<string, Damage>> = {
  'a request whose mark has nothing behind it': set('request', '\u0001a secret'),
  'an outcome whose mark has nothing behind it': set('outcome', '\u0001a secret'),
  'no texts': (key) => client.hdel(key, 'request', 'state', 'outcome'),
  'an unknown status': set('status', 'paused'),
  'no status': (key) => client.hdel(key, 'status'),
  'a time of creation that is a text': set('created_at', 'yesterday'),
  'a time of creation that no calendar has': set('created_at', '9e15'),
  'a time that is due and a text': set('due_at', 'soon'),
  'a time to live that is a text': set('ttl_ms', 'long'),
  'a version that is a text': set('version', 'first'),
  'no version': (key) => client.hdel(key, 'version'),
  'a tool whose mark has nothing behind it': set('tool', '\u0001a secret'),
  'an owner whose mark has nothing behind it': set('owner', '\u0001a secret'),
}

test.each(Object.entries(DAMAGES))('a task with %s fails alone, and once', async (_, damage) => {
  const { store, base } = place()
  const given = [1, 2, 3].map(() => sampleTask({ node: 'dead', key: crypto.randomUUID() }))
  for (const task of given) await store.create(task, ROOMY)
  const id = given[1]?.id ?? ''
  await damage(`${base}:t:${id}`)
  expect(await store.head(id)).toMatchObject({ id })
  const claimed = await store.claim('node', 1, 9, OWN)
  expect(idsOf(claimed)).toEqual(idsOf(given))
  const failed = { id, status: 'failed', node: '' }
  expect(claimed.filter(({ status }) => status === 'failed')).toMatchObject([failed])
  expect(JSON.stringify(claimed)).not.toContain('a secret')
  const outcome = expect.stringContaining('task_damaged') as string
  expect(await store.get(id)).toMatchObject({ ...failed, outcome })
  expect(await store.list({ status: 'failed', limit: 9 })).toMatchObject([failed])
  expect(await store.list({ status: 'working', limit: 9 })).toHaveLength(2)
  expect(await store.list({ limit: 9 })).toHaveLength(3)
  expect(await store.claim('other', 1, 9, OWN)).toHaveLength(2)
  expect(await store.claim('third', 1, 9, OWN)).toHaveLength(2)
})

test.each([
  ['removed', (key: string) => client.del(key)],
  ['replaced by a text', (key: string) => client.set(key, 'a secret')],
])('a task that somebody has %s is gone, and stops no other', async (_, damage) => {
  const { store, base } = place()
  const given = [1, 2, 3].map(() => sampleTask({ node: 'dead', key: crypto.randomUUID(), ttlMs: 1 }))
  for (const task of given) await store.create(task, ROOMY)
  await damage(`${base}:t:${given[1]?.id}`)
  expect(await store.list({ limit: 9 })).toHaveLength(2)
  expect(await store.claim('node', 1, 9, OWN)).toHaveLength(2)
  expect(await store.expire(Number.MAX_SAFE_INTEGER, 9)).toHaveLength(3)
  expect(await client.exists(`${base}:t:${given[1]?.id}`)).toBe(0)
})

test('a newer program may add fields and keys; keys of a newer version are not touched', async () => {
  const prefix = crypto.randomUUID()
  const { store, base } = place({ prefix })
  const [id = ''] = await addTasks(store, 1, () => ({ node: 'dead' }))
  await client.hset(`${base}:t:${id}`, 'priority', '7')
  await client.set(`${base}:later`, '1')
  const [claimed] = await store.claim('node', 1, 9, OWN)
  expect(claimed).toMatchObject({ id, status: 'working' })
  await store.change(id, 2, { status: 'completed', outcome: '{}' })
  expect(await client.hget(`${base}:t:${id}`, 'priority')).toBe('7')
  await client.set(`${base}:version`, '2')
  const failure = { kind: 'store_failed', message: expect.stringContaining('tasks have version 2') as string }
  await expect(place({ prefix }).store.get(id)).rejects.toMatchObject(failure)
})

test.each([
  ['a lease that is too short', { lease: 10 }],
  ['a lease without end', { lease: Infinity }],
])('%s is an error that says what to pass', (_, options) => {
  expect(() => redis(options)).toThrow("from '1s' to '24h'")
})
