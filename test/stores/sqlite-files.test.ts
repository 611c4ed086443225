import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { findEngine, libsqlEngine, type Database } from '../../src/store/sqlite-engine.ts'
import { SqliteFile, type Schema } from '../../src/store/sqlite-file.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { sqlite, type SqliteOptions, type StoreDriver } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const newPath = (): string => join(folder, `${++files}.db`)

function opened(path: string, options?: SqliteOptions): StoreDriver {
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
    'that a newer version wrote',
    () => {
      const path = newPath()
      const database = bare(path)
      database.exec('CREATE TABLE pierhead_versions (kind TEXT PRIMARY KEY, version INTEGER NOT NULL)')
      database.exec(`INSERT INTO pierhead_versions VALUES ('tasks', 99)`)
      database.close()
      return path
    },
    /version 99 .* knows only up to 2/,
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

test.each(['', ':memory:', 'libsql://db.example', 5, undefined])('%j is not a path', (path) => {
  expect(() => sqlite(path as string)).toThrow(expect.objectContaining({ kind: 'bad_option' }))
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
    migrations: [`CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('a')`],
  }
  const second: Schema = {
    ...first,
    migrations: [...first.migrations, `ALTER TABLE notes ADD COLUMN tag TEXT DEFAULT 'b'`],
  }
  for (const schema of [first, first, second, second]) void new SqliteFile(settings, [schema]).close()
  expect(bare(path).prepare('SELECT * FROM notes').all()).toMatchObject([{ text: 'a', tag: 'b' }])
  expect(() => new SqliteFile(settings, [first])).toThrow(/version 2 .* only up to 1/)
})

test('several processes create and share one file', async () => {
  const path = newPath()
  const child = fileURLToPath(new URL('sqlite-child.ts', import.meta.url))
  const children = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--import', 'tsx', child, path, '20'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  const ended = children.map(async (one) => once(one, 'exit'))
  const { tasks } = opened(path)
  const heard = new Set<string>()
  const all = new Promise<void>((resolve) => {
    onTestFinished(tasks.watch((id) => heard.add(id).size === 60 && resolve()))
  })
  expect(await Promise.all(ended)).toEqual([
    [0, null],
    [0, null],
    [0, null],
  ])
  await all
  const heads = await tasks.list({ status: 'completed', limit: 100 })
  expect(new Set(heads.map(({ id }) => id))).toEqual(heard)
})
