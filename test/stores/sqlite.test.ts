import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { libsqlEngine, nodeEngine } from '../../src/store/sqlite-engine.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { TaskStore } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'

const folder = mkdtempSync(join(tmpdir(), 'pierhead-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Node's own SQLite is there only on newer versions of Node. */
const engines = Object.entries({ libsql: libsqlEngine(), node: nodeEngine() }).filter(
  ([, open]) => open !== undefined,
)

describe.each(engines)('tasks in SQLite with %s', (name, engine = libsqlEngine()) => {
  const open = (place: string): TaskStore =>
    openSqlite(join(folder, `${name}-${place}.db`), {}, () => engine).tasks

  test.each(taskStoreContract({ open, durable: true }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})
