import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { PostgresLink } from '../../src/store/postgres-link.ts'
import { migrate, type PostgresTables } from '../../src/store/postgres-schema.ts'
import { SHARED_SCHEMAS } from '../../src/store/shared-schema.ts'
import { findEngine, withRows } from '../../src/store/sqlite-engine.ts'
import { SqliteFile, type Schema } from '../../src/store/sqlite-file.ts'
import { TASK_SCHEMA } from '../../src/store/tasks-schema.ts'
import { postgres, sqlite, type SessionStore, type TaskStore } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'
import { startPostgres, type TestPostgres } from '../harness/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-upgrades-'))
let server: TestPostgres
let count = 0
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.close()
})

/** Everything that a program does with tasks. */
async function use(store: TaskStore): Promise<void> {
  const task = sampleTask({ ttlMs: 1, createdAt: 1 })
  expect(await store.create(task, ROOMY)).toEqual({ outcome: 'created' })
  const head = await store.change(task.id, task.version, { state: 'abc', node: '' }, ROOMY)
  expect(head?.version).toBe(task.version + 1)
  expect((await store.get(task.id))?.state).toBe('abc')
  expect((await store.list({ limit: 10 })).map(({ id }) => id)).toContain(task.id)
  await store.beat('node', 100)
  const claimed = await store.claim('node', 50, 10, { server: task.server, tools: [task.tool] })
  expect(claimed.map(({ id }) => id)).toContain(task.id)
  expect(await store.expire(50, 10)).toContain(task.id)
}

const columnsIn = (tables: readonly string[]): string =>
  tables.map((table) => `ALTER TABLE ${table} ADD COLUMN novelty TEXT NOT NULL DEFAULT ''`).join(';')
const OTHER_TABLES = ['pierhead_task_sums', 'pierhead_nodes']
const TASK_TABLES = [
  'pierhead_task_heads',
  'pierhead_task_contents',
  'pierhead_task_requests',
  ...OTHER_TABLES,
]

/** The schema of a newer version, which has another column in each table. */
function newer(schema: Schema, needs: number, tables: readonly string[]): Schema {
  return { ...schema, needs, migrations: [...schema.migrations, columnsIn(tables)] }
}

function upgrade(path: string, ...schemas: readonly Schema[]): void {
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  void new SqliteFile(settings, schemas).close()
}

function openSqlite(path: string, shared = false): ReturnType<typeof sqlite> {
  const driver = sqlite(path, { shared })
  onTestFinished(() => driver.close())
  return driver
}

const newPath = (): string => join(folder, `${++count}.db`)
const needed = TASK_SCHEMA.needs

test('with SQLite, an older program goes on, and starts again, after a newer one has added to the tables', async () => {
  const path = newPath()
  const { tasks } = openSqlite(path)
  await use(tasks)
  upgrade(path, newer(TASK_SCHEMA, needed, TASK_TABLES))
  await use(tasks)
  await use(openSqlite(path).tasks)
  // The older program leaves the version alone, so the columns are not added again.
  expect(() => upgrade(path, newer(TASK_SCHEMA, needed, TASK_TABLES))).not.toThrow()
})

test('with SQLite, the other kinds of an older program go on as well', async () => {
  const path = newPath()
  const use = async (driver: ReturnType<typeof sqlite>): Promise<void> => {
    const { cache, rates, nodes, sessions } = driver as unknown as Record<
      'cache' | 'rates' | 'nodes' | 'sessions',
      Record<string, (...given: readonly unknown[]) => Promise<unknown>>
    >
    await cache['set']!('a', 'text', 1000)
    expect(await cache['get']!('a')).toBe('text')
    for (const store of [rates, nodes, sessions]) expect(store).toBeDefined()
  }
  const driver = openSqlite(path, true)
  await use(driver)
  const tables = new Map([
    ['sessions', ['pierhead_sessions', 'pierhead_session_fields', 'pierhead_session_counts']],
    ['events', ['pierhead_logs', 'pierhead_log_texts']],
    ['cache', ['pierhead_cache']],
    ['rates', ['pierhead_rates']],
    ['nodes', ['pierhead_members', 'pierhead_secrets']],
  ])
  const schemas = SHARED_SCHEMAS.map((schema) => newer(schema, 1, tables.get(schema.kind) ?? []))
  upgrade(path, ...schemas)
  await use(driver)
  await use(openSqlite(path, true))
})

test('with SQLite, a program that is too old for the tables says what to do, also if it runs already', async () => {
  const path = newPath()
  const { tasks } = openSqlite(path)
  await use(tasks)
  const script = 'ALTER TABLE pierhead_task_heads RENAME COLUMN status TO state_of_task'
  upgrade(path, { ...TASK_SCHEMA, needs: 9, migrations: [...TASK_SCHEMA.migrations, script] })
  const failure = {
    kind: 'store_failed',
    message: expect.stringMatching(/version 9 .* knows only up to 8/) as string,
    hint: expect.stringContaining('newer version of Pierhead') as string,
  }
  expect(() => sqlite(path)).toThrow(expect.objectContaining(failure))
  await expect((async () => tasks.head('a'))()).rejects.toMatchObject(failure)
  await expect((async () => tasks.create(sampleTask(), ROOMY))()).rejects.toMatchObject(failure)
})

test('with SQLite, the statements of a program from before long requests were apart still work', async () => {
  const path = newPath()
  const { tasks } = openSqlite(path)
  const [long, short] = [
    sampleTask({ request: 'r'.repeat(10_000) }),
    sampleTask({ request: '{}', state: 's' }),
  ]
  for (const task of [long, short]) await tasks.create(task, ROOMY)
  const database = findEngine()(path)
  onTestFinished(() => void database.close())
  const rows = (sql: string, ...values: readonly (string | number)[]): unknown =>
    withRows(database.prepare(sql)).all(...values)
  const texts = `SELECT request, state, outcome FROM pierhead_task_heads LEFT JOIN pierhead_task_texts USING (seq) WHERE seq = ?`
  expect(rows(texts, 1)).toEqual([[long.request, '', '']])
  expect(rows(texts, 2)).toEqual([['{}', 's', '']])
  // It changes a task of the newer program.
  database.prepare(`UPDATE pierhead_task_texts SET state = 'S', outcome = 'O' WHERE seq = 1`).run()
  expect(await tasks.get(long.id)).toMatchObject({ request: long.request, state: 'S', outcome: 'O' })
  // It adds one, which the newer program reads, changes and finds by its key.
  const columns =
    'id, owner, scope, tool, key, status, status_message, is_error, created_at, updated_at, expires_at, poll_ms, attempt, due_at, node, version'
  const head = `'old', 'ada', 'ada', 'render', 'k', 'working', '', 0, 1, 1, 1, 1, 1, 0, 'n', 1`
  database.exec(`INSERT INTO pierhead_task_heads (${columns}) VALUES (${head})`)
  const add =
    'INSERT INTO pierhead_task_texts (seq, request, state, outcome) VALUES (last_insert_rowid(), ?, ?, ?)'
  database.prepare(add).run('q'.repeat(9000), '', '')
  expect(await tasks.get('old')).toMatchObject({ request: 'q'.repeat(9000), same: '' })
  expect(await tasks.change('old', 1, { request: 'short', outcome: 'end' }, ROOMY)).toMatchObject({
    version: 2,
  })
  expect(await tasks.get('old')).toMatchObject({ request: 'short', outcome: 'end' })
  // It removes tasks, and knows how much that frees.
  const remove = `DELETE FROM pierhead_task_texts WHERE seq = ? RETURNING octet_length(request) + octet_length(state) + octet_length(outcome)`
  expect([rows(remove, 1), rows(remove, 2), rows(remove, 3)]).toEqual([[[10_002]], [[3]], [[8]]])
  expect(rows('SELECT 1 FROM pierhead_task_contents UNION ALL SELECT 1 FROM pierhead_task_requests')).toEqual(
    [],
  )
})

test('with SQLite, changes of sessions by a program that remembers no names are read with all fields', async () => {
  const path = newPath()
  const { sessions } = openSqlite(path, true) as unknown as { sessions: SessionStore }
  const database = findEngine()(path)
  onTestFinished(() => void database.close())
  const fields = new Map([['a', '1']])
  await sessions.create({ id: 's', countedFor: '', fields, idleMs: 600_000 }, { sessions: 9, freshMs: 0 })
  const read = async (known: number): Promise<unknown> => {
    const { version, fields: all, changes } = (await sessions.use('s', known, 600_000)) ?? {}
    return [version, all && [...all], changes && [...changes]]
  }
  expect(await sessions.change('s', new Map([['b', '2']]))).toBe(2)
  expect(await read(1)).toEqual([2, undefined, [['b', '2']]])
  database.exec(`UPDATE pierhead_session_fields SET text = 'x' WHERE name = 'a'`)
  database.exec('UPDATE pierhead_sessions SET version = version + 1')
  const all = [
    ['a', 'x'],
    ['b', '2'],
  ]
  for (const known of [1, 2]) expect(await read(known)).toEqual([3, all, undefined])
  for (let nth = 0; nth < 40; nth++) await sessions.change('s', new Map([['c', `${nth}`]]))
  expect(await read(11)).toEqual([43, undefined, [['c', '39']]])
  expect(await read(10)).toEqual([43, [...all, ['c', '39']], undefined])
  const names = (): unknown =>
    withRows(database.prepare('SELECT count(*) FROM pierhead_session_changes')).all()
  expect(names()).toEqual([[32]])
  // It ends the session, too.
  database.exec(`DELETE FROM pierhead_sessions`)
  expect(names()).toEqual([[0]])
})

/** Brings tables of PostgreSQL to a newer version. */
async function upgradePostgres(schema: string, tables: PostgresTables): Promise<void> {
  const settings = { pool: undefined, place: 'here', connections: 1, timeoutMs: 30_000 }
  const link = new PostgresLink({ ...settings, connectionString: server.url, schema })
  const place = { schema, place: 'here' }
  await migrate(
    { ...place, read: (act) => link.step(act), locked: (act) => link.transaction('schema', act) },
    tables,
  )
  await link.close()
}

function openPostgres(schema: string): ReturnType<typeof postgres> {
  const driver = postgres({ connectionString: server.url, schema, commandTimeout: '30s' })
  onTestFinished(() => driver.close())
  return driver
}

test('with PostgreSQL, an older program goes on, and starts again, after a newer one has added to the tables', async () => {
  const { tasks, cache } = openPostgres('added')
  await use(tasks)
  const tables = [
    'pierhead_tasks',
    'pierhead_task_texts',
    ...OTHER_TABLES,
    'pierhead_cache',
    'pierhead_rates',
    'pierhead_members',
    'pierhead_secrets',
  ]
  await upgradePostgres('added', { migrations: ['', '', '', '', columnsIn(tables)], needs: 1 })
  await use(tasks)
  await cache.set('a', 'text', 1000)
  await use(openPostgres('added').tasks)
  expect(await server.sql('SELECT version, needs FROM added.pierhead_schema')).toEqual([
    { version: 5, needs: 1 },
  ])
})

test('with PostgreSQL, a program that is too old for the tables says what to do, also if it runs already', async () => {
  const { tasks } = openPostgres('changed')
  await use(tasks)
  const script = 'ALTER TABLE pierhead_tasks RENAME COLUMN status TO state_of_task'
  await upgradePostgres('changed', { migrations: ['', '', '', '', script], needs: 5 })
  const hint = expect.stringMatching(/newer version of Pierhead/) as string
  await expect((async () => tasks.create(sampleTask(), ROOMY))()).rejects.toMatchObject({
    kind: 'store_failed',
    hint,
  })
  await expect((async () => openPostgres('changed').tasks.head('a'))()).rejects.toMatchObject({
    kind: 'store_failed',
    message: expect.stringMatching(/version 5, and this program knows only up to 4/) as string,
    hint,
  })
})
