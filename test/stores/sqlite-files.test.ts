import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { findEngine, libsqlEngine, type Database } from '../../src/store/sqlite-engine.ts'
import { SqliteFile, type Schema } from '../../src/store/sqlite-file.ts'
import { TASK_SCHEMA } from '../../src/store/tasks-schema.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import {
  sqlite,
  type SqliteOptions,
  type DriverOf,
  type TaskQuery,
  type TaskStore,
} from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newPath = (): string => join(folder, `${++files}.db`)

function opened(path: string, options?: SqliteOptions): DriverOf<'tasks'> {
  const driver = sqlite(path, options)
  onTestFinished(() => driver.close())
  return driver
}

/** The file without our code around it. */
function bare(path: string): Database {
  const database = findEngine()(path)
  onTestFinished(() => {
    try {
      database.close()
    } catch {}
  })
  return database
}

test('only its owner can read a new file and those beside it, and a file that exists keeps its mode', async () => {
  const modeOf = (path: string): number => statSync(path).mode & 0o777
  const path = newPath()
  const { tasks } = opened(path)
  await tasks.create(sampleTask(), ROOMY)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(modeOf(file)).toBe(0o600)
  const shared = newPath()
  bare(shared)
  chmodSync(shared, 0o640)
  opened(shared)
  expect(modeOf(shared)).toBe(0o640)
})

const BAD_FILES: readonly (readonly [name: string, make: () => string, message: RegExp, hint: RegExp])[] = [
  [
    'in a folder that does not exist',
    () => join(folder, 'nowhere', 'a.db'),
    /folder .*nowhere does not exist/,
    /Create/,
  ],
  [
    'that is a folder',
    () => {
      mkdirSync(join(folder, 'app.d'))
      return join(folder, 'app.d')
    },
    /it is a folder/,
    /app\.d.app\.db/,
  ],
  [
    'that is not a database',
    () => {
      const path = newPath()
      writeFileSync(
        path,
        'a text that is long enough to be read as the head of a database file, with more than 100 bytes',
      )
      return path
    },
    /not an SQLite database/,
    /move that file away/,
  ],
  [
    'that is short and not a database',
    () => {
      const path = newPath()
      writeFileSync(path, 'a note')
      return path
    },
    /not an SQLite database/,
    /move that file away/,
  ],
  ['that is a device', () => '/dev/null', /it is not a regular file/, /such as app\.db/],
  [
    'whose folder is a file',
    () => {
      const path = newPath()
      writeFileSync(path, '')
      return join(path, 'a.db')
    },
    /\.db is not a folder/,
    /another path/,
  ],
  ['whose name is too long', () => join(folder, `${'a'.repeat(300)}.db`), /name is too long/, /shorter/],
  [
    'that a newer version wrote',
    () => {
      const path = newPath()
      const database = bare(path)
      database.exec('CREATE TABLE pierhead_versions (kind TEXT PRIMARY KEY, version INTEGER NOT NULL)')
      database.exec(`INSERT INTO pierhead_versions VALUES ('tasks', 99)`)
      database.close()
      return path
    },
    /version 99 .* knows only up to 8/,
    /newer version of Pierhead/,
  ],
]

test.each(BAD_FILES)('a file %s gives an error that says what to do', (_, make, message, hint) => {
  const path = make()
  expect(() => sqlite(path)).toThrow(
    expect.objectContaining({
      kind: 'store_failed',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    }),
  )
})

test('a file that is read-only gives an error that says what to do', () => {
  // The permissions of a file do not stop root, so the connection forbids it.
  const readOnly = (path: string): Database => {
    const database = findEngine()(path)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA query_only = 1')
    return database
  }
  expect(() => openSqlite(newPath(), {}, () => readOnly)).toThrow(
    expect.objectContaining({ kind: 'store_failed', message: expect.stringContaining('it is read-only') }),
  )
})

const NOT_PATHS: readonly (readonly [path: unknown, message: RegExp])[] = [
  ['', /path of a file, such as 'app\.db'/],
  ['  ', /path of a file, such as 'app\.db'/],
  [5, /path of a file, such as 'app\.db'/],
  [undefined, /path of a file, such as 'app\.db'/],
  [new URL('file:///app.db'), /URI.*fileURLToPath/],
  [':memory:', /memory\(\) of pierhead\/stores/],
  ['file::memory:', /URI/],
  ['file:app.db', /URI.*\.\/file:app\.db/],
  ['file:///app.db', /URI.*fileURLToPath/],
  ['libsql://db.example', /URI/],
  // libsql would end the process.
  ['app\0.db', /NUL/],
  ['data/', /folder.*data\/app\.db/],
]

test.each(NOT_PATHS)('%j is not a path, and the error says what to pass instead', (path, message) => {
  expect(() => sqlite(path as string)).toThrow(
    expect.objectContaining({ kind: 'bad_option', message: expect.stringMatching(message) }),
  )
})

test('a relative path counts from the working directory, also if that changes later', async () => {
  const before = process.cwd()
  const own = vi.spyOn(process, 'cwd').mockReturnValue(folder)
  onTestFinished(() => own.mockRestore())
  const { tasks } = opened('relative.db')
  own.mockReturnValue(before)
  const task = sampleTask()
  await tasks.create(task, ROOMY)
  expect(await opened(join(folder, 'relative.db')).tasks.get(task.id)).toEqual(task)
})

test.each([0, '999ms', '25h', 'soon'])('a lease of %j is rejected', (lease) => {
  expect(() => sqlite(newPath(), { lease })).toThrow(
    expect.objectContaining({ kind: 'bad_option', message: expect.stringMatching(/lease/) }),
  )
})

test('the lease is 15 seconds, or as given', () => {
  expect(opened(newPath()).tasks.leaseMs).toBe(15_000)
  expect(opened(newPath(), { lease: '1m' }).tasks.leaseMs).toBe(60_000)
})

test('a misspelt option is rejected', () => {
  const options = { synchronus: 'full' } as SqliteOptions
  expect(() => sqlite(newPath(), options)).toThrow(/did you mean "synchronous"/)
})

test('without SQLite, the error names the package to install', () => {
  const load = (): never => {
    throw new Error('Cannot find module')
  }
  const error = { kind: 'sqlite_unavailable', hint: expect.stringContaining('npm install libsql') }
  expect(() => openSqlite(newPath(), {}, () => libsqlEngine(load))).toThrow(expect.objectContaining(error))
  expect(() => openSqlite(newPath(), {}, () => libsqlEngine(() => ({})))).toThrow(/this version of libsql/)
})

test('tables of the application stay as they are', async () => {
  const path = newPath()
  const database = bare(path)
  database.exec(`CREATE TABLE films (title TEXT); INSERT INTO films VALUES ('Metropolis')`)
  const { tasks } = opened(path)
  await tasks.create(sampleTask(), ROOMY)
  expect(database.prepare('SELECT title FROM films').all()).toMatchObject([{ title: 'Metropolis' }])
})

test('a change waits for other processes, and fails after busyTimeout', async () => {
  const path = newPath()
  const { tasks } = opened(path, { busyTimeout: 300 })
  const other = bare(path)
  other.exec('BEGIN IMMEDIATE')
  await expect(tasks.create(sampleTask(), ROOMY)).rejects.toMatchObject({
    kind: 'store_busy',
    retryable: true,
  })
  const patient = opened(path, { busyTimeout: '1m' })
  const created = patient.tasks.create(sampleTask(), ROOMY)
  other.exec('ROLLBACK')
  await expect(created).resolves.toEqual({ outcome: 'created' })
})

test('a new file that another process keeps locked cannot be opened', () => {
  const path = newPath()
  bare(path).exec('BEGIN EXCLUSIVE')
  expect(() => sqlite(path, { busyTimeout: 100 })).toThrow(expect.objectContaining({ kind: 'store_busy' }))
})

test('a step that fails does not fail those that are committed with it', async () => {
  const { tasks } = opened(newPath())
  const task = sampleTask()
  const settled = await Promise.allSettled(
    [task, sampleTask(), task, sampleTask()].map(async (one) => tasks.create(one, ROOMY)),
  )
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(settled[2]).toMatchObject({ reason: { kind: 'store_failed' } })
  expect(await tasks.list({ limit: 9 })).toHaveLength(3)
})

test('closing waits for changes under way', async () => {
  const path = newPath()
  const first = sqlite(path)
  const task = sampleTask()
  const created = first.tasks.create(task, ROOMY)
  await first.close()
  await expect(created).resolves.toEqual({ outcome: 'created' })
  expect(await opened(path).tasks.get(task.id)).toEqual(task)
})

test('a watcher that missed changes hears of every task', async () => {
  const path = newPath()
  const { tasks } = opened(path)
  const list = [sampleTask(), sampleTask()]
  for (const task of list) await tasks.create(task, ROOMY)
  const heard = new Set<string>()
  const all = new Promise<void>((resolve) => {
    onTestFinished(tasks.watch((id) => heard.add(id).size === list.length && resolve()))
  })
  bare(path).exec(`INSERT INTO pierhead_task_changes VALUES (1000, 'another process', '[]')`)
  await all
  expect(heard).toEqual(new Set(list.map(({ id }) => id)))
})

test('tables of an older version are migrated, once', () => {
  const path = newPath()
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  const first: Schema = {
    kind: 'notes',
    needs: 1,
    migrations: [`CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('a')`],
  }
  const second: Schema = {
    ...first,
    needs: 2,
    migrations: [...first.migrations, `ALTER TABLE notes ADD COLUMN tag TEXT DEFAULT 'b'`],
  }
  for (const schema of [first, first, second, second]) void new SqliteFile(settings, [schema]).close()
  expect(bare(path).prepare('SELECT * FROM notes').all()).toMatchObject([{ text: 'a', tag: 'b' }])
  expect(() => new SqliteFile(settings, [first])).toThrow(/version 2 .* only up to 1/)
})

test('tasks of a file without the names of servers go on, on any server that has their tool', async () => {
  const path = newPath()
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  const older = { ...TASK_SCHEMA, migrations: TASK_SCHEMA.migrations.slice(0, 2) }
  void new SqliteFile(settings, [older]).close()
  const columns =
    'id, owner, scope, tool, key, status, status_message, is_error, created_at, updated_at, poll_ms, attempt, due_at, node, version'
  const values = `'old', 'ada', 'ada', 'render', 'k', 'working', '', 0, 1, 1, 1000, 1, 0, 'dead', 1`
  const database = bare(path)
  database.prepare(`INSERT INTO pierhead_tasks (${columns}) VALUES (${values})`).run()
  database.prepare(`INSERT INTO pierhead_task_texts VALUES (1, '{}', '', '')`).run()
  database.close()
  const { tasks } = opened(path)
  expect(await tasks.list({ server: 'films', limit: 9 })).toMatchObject([
    { id: 'old', server: '', network: '', isShared: false },
  ])
  expect(await tasks.claim('node', 1, 9, { server: 'films', tools: ['render'] })).toMatchObject([
    { id: 'old' },
  ])
})

test('tasks of a file without sums are counted', async () => {
  const path = newPath()
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  const older = { ...TASK_SCHEMA, migrations: TASK_SCHEMA.migrations.slice(0, 3) }
  void new SqliteFile(settings, [older]).close()
  const database = bare(path)
  const columns =
    'id, server, owner, scope, tool, key, status, status_message, is_error, created_at, updated_at, ttl_ms, expires_at, poll_ms, attempt, due_at, node, version'
  const values = `'films', 'ada', 'ada', 'render', '', 'completed', '', 0, 1, 1, 9, 10, 1000, 1, 0, '', 1`
  for (const id of ['one', 'two'])
    database.prepare(`INSERT INTO pierhead_tasks (${columns}) VALUES ('${id}', ${values})`).run()
  // The second has lost its texts.
  database.prepare(`INSERT INTO pierhead_task_texts VALUES (1, 'é', '', '1234')`).run()
  database.exec(`INSERT INTO pierhead_task_counts VALUES ('', 2), ('ada', 2)`)
  database.close()
  const { tasks } = opened(path)
  const kept = 512 + 6 + 512
  const sample = sampleTask()
  const bytes = 512 + sample.request.length
  const create = async (room: object): Promise<string> =>
    (await tasks.create(sample, { ...ROOMY, ...room })).outcome
  expect(await create({ tasks: 2 })).toBe('full')
  expect(await create({ callerTasks: 2 })).toBe('caller_full')
  expect(await create({ taskBytes: 4 * (kept + bytes) - 1 })).toBe('too_large')
  expect(await create({ taskBytes: 4 * (kept + bytes) })).toBe('created')
  expect(await tasks.expire(10, 9)).toEqual(['one', 'two'])
  const next = sampleTask()
  expect(await tasks.create(next, { tasks: 2, callerTasks: 2, taskBytes: 8 * bytes })).toEqual({
    outcome: 'created',
  })
})

test('a file whose ids were stored as they are keeps them, and gets a key of its own', async () => {
  const path = newPath()
  const settings = { path, open: findEngine(), synchronous: 'normal', busyMs: 1000 } as const
  const older = { ...TASK_SCHEMA, needs: 4, migrations: TASK_SCHEMA.migrations.slice(0, 4) }
  void new SqliteFile(settings, [older]).close()
  const database = bare(path)
  const columns =
    'id, server, owner, scope, tool, key, status, status_message, is_error, created_at, updated_at, poll_ms, attempt, due_at, node, version'
  const old = 'q'.repeat(24)
  const values = `'${old}', 'films', 'ada', 'ada', 'render', '', 'completed', '', 0, 1, 1, 1000, 1, 0, '', 1`
  database.prepare(`INSERT INTO pierhead_tasks (${columns}) VALUES (${values})`).run()
  database.prepare(`INSERT INTO pierhead_task_texts VALUES (1, '{}', '', '{"result":{}}')`).run()
  database.close()
  const { tasks } = opened(path)
  const id = tasks.newId?.() ?? ''
  await tasks.create(sampleTask({ id, scope: 'ada' }), ROOMY)
  await tasks.close()
  // A restart keeps both.
  const again = opened(path).tasks
  expect(await again.get(old)).toMatchObject({ id: old, outcome: '{"result":{}}' })
  expect(await again.get(id)).toMatchObject({ id, tool: 'render' })
  expect((await again.list({ scope: 'ada', after: old, limit: 9 })).map((head) => head.id)).toEqual([id])
  expect(await again.get(opened(newPath()).tasks.newId?.() ?? '')).toBeUndefined()
  const keyIn = (file: string): unknown => bare(file).prepare('SELECT key FROM pierhead_task_key').get()
  const other = newPath()
  opened(other)
  expect(keyIn(other)).not.toEqual(keyIn(path))
  expect(() => new SqliteFile(settings, [older])).toThrow(/version 8 .* only up to 4/)
})

test('a file without its key of ids is not opened', () => {
  const path = newPath()
  void opened(path).close()
  bare(path).exec(`UPDATE pierhead_task_key SET key = 'short'`)
  expect(() => sqlite(path)).toThrow(/the key of its task ids is damaged/)
})

/** The queries that an act runs on a file, and how SQLite would run each. */
async function plansOf(act: (tasks: TaskStore, id: string) => unknown): Promise<readonly string[]> {
  const path = newPath()
  const queries: string[] = []
  const open = (file: string): Database => {
    const database = findEngine()(file)
    const prepare = database.prepare.bind(database)
    database.prepare = (sql) => (queries.push(sql), prepare(sql))
    return database
  }
  const driver = openSqlite(path, {}, () => open)
  onTestFinished(() => driver.close())
  const task = sampleTask()
  await driver.tasks.create(task, ROOMY)
  queries.length = 0
  await act(driver.tasks, task.id)
  const database = bare(path)
  return queries.flatMap((sql) => {
    const rows = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array(sql.split('?').length - 1).fill(1))
    return rows.map((row) => (row as { readonly detail: string }).detail)
  })
}

const FILTERS: readonly (readonly [name: string, query: Omit<TaskQuery, 'limit'>, index: string])[] = [
  ['status', { status: 'failed' }, 'by_status'],
  ['tool', { tool: 'render' }, 'by_tool'],
  ['tool and status', { tool: 'render', status: 'failed' }, 'by_tool_and_status'],
  ['caller', { scope: 'ada' }, 'by_scope'],
  ['server and status', { server: 'films', status: 'failed' }, 'by_status'],
  ['server and caller', { server: 'films', scope: 'ada' }, 'by_scope'],
]

test.each(FILTERS)('a list filtered by %s reads only the tasks that it shows', async (_, query, index) => {
  for (const after of [undefined, 'the last one']) {
    const plans = await plansOf((tasks, id) =>
      tasks.list({ ...query, limit: 10, ...(after !== undefined && { after: id }) }),
    )
    expect(plans.at(-1)).toMatch(
      new RegExp(`^SEARCH pierhead_task_heads USING INDEX pierhead_tasks_${index} `),
    )
    for (const plan of plans) expect(plan).not.toMatch(/^SCAN|TEMP B-TREE/)
  }
})

test('a claim reads neither tasks of living nodes nor finished ones, whatever their number', async () => {
  const plans = await plansOf(async (tasks) => {
    await tasks.beat('node-1', Number.MAX_SAFE_INTEGER)
    await tasks.claim('node-2', 1, 10, { server: 'films', tools: ['render'] })
  })
  const ofTasks = plans.filter((plan) => plan.includes('pierhead_task_heads '))
  expect(ofTasks.filter((plan) => plan.includes('INDEX pierhead_tasks_by_node '))).toHaveLength(2)
  for (const plan of ofTasks) expect(plan).toMatch(/INDEX pierhead_tasks_(by_node|unreadable)/)
  for (const plan of plans) expect(plan).not.toMatch(/TEMP B-TREE/)
})

test('a claim in turn looks at one place for each caller', async () => {
  const plans = await plansOf(async (tasks, id) => {
    await tasks.change(id, 1, { node: '' })
    await tasks.claim('node-2', 1, 1, { server: 'films', tools: ['render'] })
  })
  const inTurn = plans.filter((plan) => plan.includes('INDEX pierhead_tasks_by_turn '))
  // Tasks of other tools are not read.
  const place = '(server=? AND node=? AND tool=? AND <expr>'
  expect(inTurn.some((plan) => plan.includes(`${place}>?)`))).toBe(true)
  expect(inTurn.some((plan) => plan.includes(`${place}=? AND due_at<?)`))).toBe(true)
  const due = plans.filter(
    (plan) => plan.includes('INDEX pierhead_tasks_by_node ') && plan.includes('due_at'),
  )
  expect(due).not.toEqual([])
  for (const plan of due) expect(plan).toContain('(server=? AND node=? AND tool=? AND due_at<?)')
  for (const plan of plans) expect(plan).not.toMatch(/TEMP B-TREE/)
})
