import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { Deferred } from '../../src/base/deferred.ts'
import { createServer } from '../../src/index.ts'
import { findEngine, type Database, type OpenDatabase } from '../../src/store/sqlite-engine.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { DriverOf, SqliteOptions } from '../../src/stores.ts'
import { ROOMY, sampleTask } from '../../src/testing/contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-locks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** A store whose transactions are counted, and another connection to its file. */
function contested(options: SqliteOptions = {}): {
  readonly driver: DriverOf<'tasks'>
  readonly database: Database
  readonly other: Database
  begun(): number
} {
  const path = join(folder, `${++files}.db`)
  let begun = 0
  let database: Database | undefined
  const open: OpenDatabase = (file) => {
    const opened = (database = findEngine()(file))
    const exec = opened.exec.bind(opened)
    opened.exec = (sql) => {
      if (sql.startsWith('BEGIN')) begun++
      return exec(sql)
    }
    return opened
  }
  const driver = openSqlite(path, options, () => open)
  const other = findEngine()(path)
  onTestFinished(async () => {
    other.close()
    await driver.close()
  })
  return { driver, database: database as unknown as Database, other, begun: () => begun }
}

test('a change that waits for a lock leaves the event loop free, and tries again after growing pauses', async () => {
  const { driver, database, other, begun } = contested({ busyTimeout: '1m' })
  // SQLite itself does not wait: it would block the process.
  expect(database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 0 })
  other.exec('BEGIN IMMEDIATE')
  const before = begun()
  const created = driver.tasks.create(sampleTask(), ROOMY)
  let turns = 0
  while (begun() < before + 5) {
    await new Promise((resolve) => void setImmediate(resolve))
    turns++
  }
  // Far more turns than attempts: attempts without pauses would take one turn each.
  expect(turns).toBeGreaterThan(10)
  other.exec('ROLLBACK')
  await expect(created).resolves.toEqual({ outcome: 'created' })
})

test('while the file is locked, reads are answered and changes wait, in order', async () => {
  const { driver, other } = contested({ busyTimeout: '1m' })
  const { tasks } = driver
  const task = sampleTask()
  await tasks.create(task, ROOMY)
  other.exec('BEGIN IMMEDIATE')
  const changed = [1, 2, 3].map(async (version) =>
    tasks.change(task.id, version, { statusMessage: `message ${version}` }),
  )
  expect(await tasks.head(task.id)).toMatchObject({ version: 1 })
  other.exec('ROLLBACK')
  expect(await Promise.all(changed)).toMatchObject([{ version: 2 }, { version: 3 }, { version: 4 }])
})

test('a read that meets a lock waits for it', async () => {
  const { driver, database } = contested({ busyTimeout: '1m' })
  const task = sampleTask()
  await driver.tasks.create(task, ROOMY)
  const prepare = database.prepare.bind(database)
  const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY', errcode: 5 })
  const locked = vi.fn<() => never>(() => {
    throw busy
  })
  database.prepare = (sql) => (locked.mock.calls.length < 3 ? locked() : prepare(sql))
  expect(await driver.tasks.head(task.id)).toMatchObject({ id: task.id })
  expect(locked).toHaveBeenCalledTimes(3)
})

test('many changes wait for a lock together, and closing takes no longer than one of them', async () => {
  const { driver, other, begun } = contested({ busyTimeout: 1000 })
  other.exec('BEGIN IMMEDIATE')
  // More than one transaction would take.
  const created = Array.from({ length: 1500 }, async () => driver.tasks.create(sampleTask(), ROOMY))
  const closed = driver.close()
  await expect(Promise.race(created)).rejects.toMatchObject({ kind: 'store_busy', retryable: true })
  const before = begun()
  const settled = await Promise.allSettled(created)
  await closed
  expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
  expect(begun() - before).toBeLessThan(12)
})

test('tasks of a dead process are claimed once a lock is gone that was there when the server began', async () => {
  const { driver, other } = contested({ busyTimeout: 50 })
  const request = { revision: '2026-07-28', params: { name: 'work' }, capabilities: {} }
  const task = sampleTask({ tool: 'work', node: 'dead', request: JSON.stringify(request) })
  await driver.tasks.create(task, ROOMY)
  other.exec('BEGIN IMMEDIATE')
  const failed = new Deferred<void>()
  const app = createServer({
    name: 'films',
    version: '1.0.0',
    store: driver,
    log: (_, message) => void (message === 'the task store failed' && failed.resolve()),
  })
  onTestFinished(() => app.close())
  const ran = new Promise<string>((resolve) => {
    app.tool('work', { task: { onRestart: 'retry' } }, () => (resolve('done'), 'done'))
  })
  await app.listen({ http: { port: 0 } })
  await failed.promise
  other.exec('ROLLBACK')
  await expect(ran).resolves.toBe('done')
})

test('no more than 10,000 changes wait for a lock; further ones are rejected at once, and may be repeated later', async () => {
  const { driver, other } = contested({ busyTimeout: 100 })
  other.exec('BEGIN IMMEDIATE')
  const beat = async (index: number): Promise<void> => driver.tasks.beat(`node-${index}`, 1)
  const waiting = Promise.allSettled(Array.from({ length: 10_000 }, (_, index) => beat(index)))
  await expect(beat(10_000)).rejects.toMatchObject({
    kind: 'overloaded',
    retryAfterMs: 1000,
    hint: expect.stringContaining('10000 changes wait') as string,
  })
  await waiting
  other.exec('ROLLBACK')
  await expect(beat(10_001)).resolves.toBeUndefined()
})
