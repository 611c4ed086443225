import { Pool } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { postgres, type PostgresOptions } from '../../src/stores.ts'
import { addTasks, OWN, ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'

const LONG_MS = 3_600_000
const UNREACHABLE = { kind: 'store_unreachable', retryable: true, retryAfterMs: 1000 }

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server.close())

function opened(options: PostgresOptions = {}): ReturnType<typeof postgres> {
  const where = options.pool === undefined ? { connectionString: server.url } : {}
  const driver = postgres({ ...where, schema: newSchema(), commandTimeout: '30s', ...options })
  onTestFinished(() => driver.close())
  return driver
}

const newSchema = (): string => `s-${crypto.randomUUID()}`

test('a server that was never there is an error that clients may retry, without the password', async () => {
  const connectionString = 'postgres://user:geheim@127.0.0.1:1/films'
  const { tasks, cache } = opened({ connectionString, commandTimeout: 100 })
  const private_ = sampleTask({ request: 'private' })
  await expect(tasks.create(private_, ROOMY)).rejects.toMatchObject(UNREACHABLE)
  const error = await Promise.resolve(cache.get('a')).catch((one: unknown) => one)
  const { cause, message, hint } = error as Error & { readonly hint: string }
  const told = JSON.stringify([
    error,
    message,
    hint,
    cause,
    (cause as Error).message,
    { ...(cause as object) },
  ])
  expect(told).toContain('127.0.0.1:1/films')
  expect(told).not.toMatch(/geheim|private/)
})

test('a database that does not exist is an error that says what to do', async () => {
  const { cache } = opened({ connectionString: server.url.replace(/postgres$/, 'nowhere') })
  const failure = { kind: 'store_failed', hint: expect.stringContaining('Create the database') as string }
  await expect(cache.get('a')).rejects.toMatchObject(failure)
})

test('a user who may not create the schema is an error that says so; one that exists can be used', async () => {
  const schema = newSchema()
  await opened({ schema }).cache.set('a', '1', LONG_MS)
  await server.sql(`CREATE ROLE plain LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO plain;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO plain`)
  const connectionString = server.url.replace('//postgres@', '//plain@')
  expect(await opened({ connectionString, schema }).cache.get('a')).toBe('1')
  const failure = { kind: 'store_failed', hint: expect.stringContaining('create the schema') as string }
  await expect(opened({ connectionString }).cache.get('a')).rejects.toMatchObject(failure)
})

test('tables of a newer version are not touched', async () => {
  const schema = newSchema()
  await opened({ schema }).cache.set('a', '1', LONG_MS)
  await server.sql(`UPDATE "${schema}".pierhead_schema SET version = 99, needs = 99`)
  const failure = { kind: 'store_failed', message: expect.stringContaining('version 99') as string }
  await expect(opened({ schema }).cache.get('a')).rejects.toMatchObject(failure)
})

test('drivers that start at the same time create the tables once', async () => {
  const schema = newSchema()
  const drivers = Array.from({ length: 5 }, () => opened({ schema }))
  await Promise.all(drivers.map(async ({ cache }, index) => cache.set(`${index}`, 'x', LONG_MS)))
  expect(await drivers[0]?.cache.get('4')).toBe('x')
})

test('a pool of the program is used, and stays open', async () => {
  const pool = new Pool({ connectionString: server.url, max: 2 })
  onTestFinished(() => pool.end())
  const schema = `pierhead_${crypto.randomUUID().slice(0, 8)}`
  const driver = opened({ pool, schema })
  const [id = ''] = await addTasks(driver.tasks, 1)
  expect(await opened({ schema }).tasks.head(id)).toMatchObject({ id })
  await driver.close()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('while the server is away, steps fail in time; they work again when it is back', async () => {
  const { tasks, cache } = opened({ commandTimeout: '1s' })
  const [id = ''] = await addTasks(tasks, 1)
  await server.kill()
  const steps = [tasks.head(id), tasks.create(sampleTask(), ROOMY), cache.set('a', '1', LONG_MS)]
  for (const result of await Promise.allSettled(steps.map(async (step) => step)))
    expect(result).toMatchObject({ status: 'rejected', reason: UNREACHABLE })
  // Later ones do not wait.
  await expect(tasks.change(id, 1, { statusMessage: 'lost' })).rejects.toMatchObject(UNREACHABLE)
  await server.restart()
  await expect
    .poll(async () => Promise.resolve(tasks.head(id)).catch(() => undefined), { timeout: 30_000 })
    .toMatchObject({ version: 1 })
  expect(await tasks.list({ limit: 9 })).toHaveLength(1)
})

test('a server that does not answer is an error in time', async () => {
  const { tasks, cache } = opened({ commandTimeout: '1s' })
  const [id = ''] = await addTasks(tasks, 1)
  server.freeze()
  const steps = [tasks.head(id), tasks.change(id, 1, { outcome: '{}' }), cache.add('a', '1', LONG_MS)]
  const results = await Promise.allSettled(steps.map(async (step) => step))
  server.thaw()
  for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: UNREACHABLE })
  await expect
    .poll(async () => Promise.resolve(tasks.head(id)).catch(() => undefined), { timeout: 30_000 })
    .toMatchObject({ id })
})

test('no step is lost or done twice while the server restarts', async () => {
  const schema = newSchema()
  const drivers = [opened({ schema }), opened({ schema })]
  const given = Array.from({ length: 200 }, () => sampleTask())
  const work = given.map(async (task, index) => {
    const { tasks } = drivers[index % 2] as (typeof drivers)[0]
    const { outcome } = await tasks.create(task, ROOMY)
    const head = await tasks.change(task.id, 1, { status: 'completed', outcome: `"${index}"`, node: '' })
    return [outcome, head?.version]
  })
  await work[0]
  await server.kill()
  await server.restart()
  expect(await Promise.all(work)).toEqual(given.map(() => ['created', 2]))
  expect(await drivers[0]?.tasks.list({ limit: 999 })).toHaveLength(200)
  const [sum] = await server.sql(
    `SELECT max(tasks) AS tasks, max(bytes) AS bytes, (SELECT sum(512 + octet_length(request) + octet_length(state) + octet_length(outcome)) FROM "${schema}".pierhead_task_texts)::float8 AS counted FROM "${schema}".pierhead_task_sums`,
  )
  expect(sum).toMatchObject({ tasks: 200, bytes: sum?.['counted'] })
}, 60_000)

/** A pool whose connection breaks after the next statement that matches, before its answer arrives. */
function lossyPool(): { readonly pool: Pool; lose(pattern: RegExp): void } {
  const pool = new Pool({ connectionString: server.url, max: 4 })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  let lost: RegExp | undefined
  const connect = pool.connect.bind(pool)
  const lossy = async (): Promise<object> => {
    const client = await connect()
    const query = async (given: { readonly text: string }): Promise<unknown> => {
      const result: unknown = await client.query(given)
      if (lost?.test(given.text) !== true) return result
      lost = undefined
      throw new Error('Connection terminated unexpectedly')
    }
    return Object.assign(Object.create(client) as object, {
      query,
      release: (isBroken: boolean) => client.release(isBroken),
    })
  }
  return { pool: Object.assign(pool, { connect: lossy }), lose: (pattern) => void (lost = pattern) }
}

test('a step whose answer is lost knows that it was done', async () => {
  const { pool, lose } = lossyPool()
  const { tasks } = opened({ pool })
  const task = sampleTask({ node: '', key: 'k' })
  await tasks.head('none')
  lose(/^COMMIT/)
  expect(await tasks.create(task, ROOMY)).toEqual({ outcome: 'created' })
  lose(/UPDATE/)
  expect(await tasks.change(task.id, 1, { statusMessage: 'm' })).toMatchObject({ version: 2 })
  lose(/^COMMIT/)
  expect(await tasks.change(task.id, 2, { state: '{}' })).toMatchObject({ version: 3 })
  lose(/WITH RECURSIVE/)
  expect(await tasks.claim('node', 1, 9, OWN)).toMatchObject([{ id: task.id, version: 4, node: 'node' }])
  expect(await tasks.list({ limit: 9 })).toHaveLength(1)
})

test('a step that must not be repeated fails if its answer is lost', async () => {
  const { pool, lose } = lossyPool()
  const { cache, rates, nodes } = opened({ pool })
  await cache.get('a')
  lose(/INSERT/)
  await expect(cache.add('a', '1', LONG_MS)).rejects.toMatchObject(UNREACHABLE)
  expect(await cache.get('a')).toBe('1')
  lose(/INSERT/)
  await expect(rates.use('a', 2, LONG_MS)).rejects.toMatchObject(UNREACHABLE)
  expect(await rates.use('a', 2, LONG_MS)).toMatchObject({ remaining: 0 })
  lose(/^COMMIT/)
  await expect(nodes.join({ server: 'films', inMemory: [] }, LONG_MS)).rejects.toMatchObject(UNREACHABLE)
})

test('a server whose connections are all in use is busy; one that gives nobody a connection is away', async () => {
  const pool = new Pool({ connectionString: server.url, max: 2 })
  onTestFinished(() => pool.end())
  const { cache } = opened({ pool, commandTimeout: 300 })
  await cache.get('a')
  const connect = pool.connect.bind(pool)
  let free = 1
  Object.assign(pool, { connect: () => (free-- > 0 ? connect() : new Promise(() => undefined)) })
  const [one, other] = await Promise.allSettled([cache.get('a'), cache.get('b')])
  expect(one).toMatchObject({ status: 'fulfilled' })
  expect(other).toMatchObject({ status: 'rejected', reason: { kind: 'overloaded', retryAfterMs: 1000 } })
  await expect(cache.get('a')).rejects.toMatchObject(UNREACHABLE)
})

test('no more than 10,000 steps wait for a connection; further ones hear that the server is busy, and not that it is away', async () => {
  const pool = new Pool({ connectionString: server.url, max: 2 })
  onTestFinished(() => pool.end())
  const { tasks } = opened({ pool, commandTimeout: 500 })
  await tasks.head('nobody')
  const connect = pool.connect.bind(pool)
  Object.assign(pool, { connect: () => new Promise(() => undefined) })
  const waiting = Promise.allSettled(Array.from({ length: 10_000 }, async () => tasks.head('nobody')))
  await expect(tasks.head('nobody')).rejects.toMatchObject({
    kind: 'overloaded',
    retryAfterMs: 1000,
    hint: expect.stringContaining('10000 steps wait') as string,
  })
  await waiting
  Object.assign(pool, { connect })
  expect(await tasks.head('nobody')).toBeUndefined()
})

test('watchers hear of what happened while their connection was lost', async () => {
  const schema = newSchema()
  const [one, two] = [opened({ schema }), opened({ schema })]
  const [id = ''] = await addTasks(one.tasks, 1)
  let heard = 0
  onTestFinished(one.tasks.watch((changed) => void (heard += changed === id ? 1 : 0)))
  await two.tasks.change(id, 1, { statusMessage: 'a' })
  await expect.poll(() => heard).toBeGreaterThan(0)
  const listeners = `FROM pg_stat_activity WHERE query LIKE 'LISTEN "pierhead:${schema}"' OR query = 'SELECT 1'`
  const before = heard
  await server.sql(`SELECT pg_terminate_backend(pid) ${listeners}`)
  await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThan(before)
  const after = heard
  await two.tasks.change(id, 2, { statusMessage: 'b' })
  await expect.poll(() => heard, { timeout: 30_000 }).toBeGreaterThan(after)
})

test('an id that is too long for a notification is announced all the same', async () => {
  const schema = newSchema()
  const [one, two] = [opened({ schema }), opened({ schema })]
  // Longer than a notification, and short enough for an index once it is compressed.
  const task = sampleTask({ id: 'x'.repeat(9000) })
  await one.tasks.create(task, ROOMY)
  // Its connection listens, so not every task counts as changed.
  await two.tasks.head(task.id)
  const heard = new Promise<string>((resolve) => onTestFinished(two.tasks.watch(resolve)))
  await one.tasks.change(task.id, 1, { statusMessage: 'm' })
  expect(await heard).toBe(task.id)
})

test('keys, scopes and names of any length are kept', async () => {
  const { tasks, cache, rates } = opened()
  const long = Array.from({ length: 500 }, () => crypto.randomUUID()).join('')
  const task = sampleTask({ scope: long, key: long, network: long })
  await tasks.create(task, ROOMY)
  expect(await tasks.create({ ...task, id: 'other' }, ROOMY)).toMatchObject({ outcome: 'exists' })
  expect(await tasks.list({ scope: long, limit: 9 })).toHaveLength(1)
  await cache.set(long, 'a', LONG_MS)
  expect(await cache.get(long)).toBe('a')
  expect(await rates.use(long, 1, LONG_MS)).toMatchObject({ isWithin: true })
})

test('a transaction that was cancelled while it waited for its lock leaves its connection usable', async () => {
  const schema = newSchema()
  const { tasks } = opened({ schema, connections: 1 })
  await addTasks(tasks, 1)
  const holder = new Pool({ connectionString: server.url, max: 1 })
  onTestFinished(() => holder.end())
  const lock = `hashtextextended('pierhead:${schema}:sums', 0)`
  await holder.query(`SELECT pg_advisory_lock(${lock})`)
  const task = sampleTask()
  const creating = tasks.create(task, ROOMY)
  const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
  await expect.poll(() => server.sql(waiting)).toHaveLength(1)
  await server.sql(`SELECT pg_cancel_backend(pid) FROM (${waiting}) AS waiting`)
  await holder.query(`SELECT pg_advisory_unlock(${lock})`)
  expect(await creating).toEqual({ outcome: 'created' })
  expect((await tasks.get(task.id))?.id).toBe(task.id)
})

test('its time is that of the server', async () => {
  const { tasks } = opened()
  const [row] = await server.sql('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now')
  const passed = ((await tasks.now?.()) ?? 0) - Number(row?.['now'])
  expect(passed).toBeGreaterThanOrEqual(0)
  expect(passed).toBeLessThan(60_000)
})

test('a task that cannot be stored takes no other with it', async () => {
  const { tasks } = opened()
  const [taken = ''] = await addTasks(tasks, 1)
  const given = [sampleTask(), sampleTask({ id: taken }), sampleTask()]
  const results = await Promise.allSettled(given.map(async (task) => tasks.create(task, ROOMY)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a worker that lost its lease cannot write results', async () => {
  const schema = newSchema()
  const [first, second] = [opened({ schema }), opened({ schema })]
  const task = sampleTask({ node: '' })
  await first.tasks.create(task, ROOMY)
  await first.tasks.beat('one', 1000)
  const [mine] = await first.tasks.claim('one', 500, 9, OWN)
  expect(await second.tasks.claim('two', 999, 9, OWN)).toEqual([])
  const [theirs] = await second.tasks.claim('two', 1000, 9, OWN)
  const done = { status: 'completed', outcome: '"late"', node: '' } as const
  expect(await first.tasks.change(task.id, mine?.version ?? 0, done)).toBeUndefined()
  expect(await second.tasks.get(task.id)).toMatchObject({ status: 'working', node: 'two', outcome: '' })
  const won = { ...done, outcome: '"in time"' }
  expect(await second.tasks.change(task.id, theirs?.version ?? 0, won)).toMatchObject({ status: 'completed' })
  expect(await first.tasks.get(task.id)).toMatchObject({ outcome: '"in time"' })
})

test.each([
  ['a number', 5432, 'expected an object with options'],
  ['an http URL', 'http://127.0.0.1', 'postgres://127.0.0.1:5432/films'],
  ['a host', '127.0.0.1', 'postgres://127.0.0.1:5432/films'],
  ['a misspelt option', { shema: 'a' }, 'did you mean "schema"?'],
  ['a schema with a quote', { schema: 'a"b' }, 'letters, digits'],
  ['a pool without connect', { pool: {} }, 'pass a Pool of pg'],
  ['a pool of one connection', { pool: { connect: () => {}, options: { max: 1 } } }, 'max: 2'],
  ['both', { pool: { connect: () => {} }, connectionString: 'postgres://a/b' }, 'excludes'],
  ['too many connections', { connections: 1001 }, 'from 1 to 1000'],
  ['a timeout without end', { commandTimeout: Infinity }, "from '10ms' to '1h'"],
  ['a lease that is too short', { lease: 10 }, "from '1s' to '24h'"],
])('%s is an error that says what to pass', (_, given, text) => {
  expect(() => postgres(given as string)).toThrow(text)
})
