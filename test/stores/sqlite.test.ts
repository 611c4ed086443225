import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findEngine, libsqlEngine, nodeEngine, type OpenDatabase } from '../../src/store/sqlite-engine.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { StoreDriver, TaskStore } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { KITS } from './kits.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An engine whose rows are always objects, as that of the first versions of Node that have one. */
const objects: OpenDatabase = (path) => {
  const database = findEngine()(path)
  const withoutFacts = (row: unknown): unknown => {
    if (row === undefined) return undefined
    const { _metadata, ...columns } = row as Readonly<Record<string, unknown>>
    return columns
  }
  return {
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        run: (...values) => statement.run(...values),
        get: (...values) => withoutFacts(statement.get(...values)),
        all: (...values) => statement.all(...values).map(withoutFacts),
      }
    },
  }
}

/** Node's own SQLite is there only on newer versions of Node. */
const engines = Object.entries({ libsql: libsqlEngine(), node: nodeEngine(), objects }).filter(
  ([, open]) => open !== undefined,
)

describe.each(engines)('tasks in SQLite with %s', (name, engine = libsqlEngine()) => {
  const open = (place: string): TaskStore =>
    openSqlite(join(folder, `${name}-${place}.db`), {}, () => engine).tasks

  test.each(taskStoreContract({ open, durable: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe.each(Object.entries(KITS))('%s in SQLite', (kind, kit) => {
  const open = (place: string): StoreDriver =>
    openSqlite(join(folder, `${kind}-${place}.db`), { synchronous: 'normal', shared: true }, findEngine)

  test.each(kit({ open, shared: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

test('numbers of nodes begin again after the highest one, without those of living nodes', async () => {
  const path = join(folder, 'numbers.db')
  const { nodes, close } = openSqlite(path, { synchronous: 'normal', shared: true }, findEngine)
  const next = async (): Promise<number | undefined> =>
    (await nodes?.join({ server: 'films', inMemory: [] }, 3_600_000))?.number
  expect(await next()).toBe(1)
  const database = findEngine()(path)
  database.exec('UPDATE pierhead_member_number SET last = 1999999')
  database.close()
  expect([await next(), await next()]).toEqual([2_000_000, 2])
  await close()
})

test('a file with tasks alone can be shared later, and then be used for tasks alone again', async () => {
  const path = join(folder, 'later.db')
  const open = (shared: boolean): ReturnType<typeof openSqlite> => openSqlite(path, { shared }, findEngine)
  const first = open(false)
  expect(first.sessions).toBeUndefined()
  await first.close()
  const second = open(true)
  await second.cache?.set('a', '1', 3_600_000)
  const third = open(false)
  expect(await third.tasks.list({ limit: 1 })).toEqual([])
  expect(await second.cache?.get('a')).toBe('1')
  await Promise.all([second.close(), third.close()])
})
