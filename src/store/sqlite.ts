import { toMs, type Duration } from '../base/duration.ts'
import { DURATION, oneOf, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { StoreDriver } from './driver.ts'
import { builtin } from './builtin.ts'
import { findEngine, type OpenDatabase } from './sqlite-engine.ts'
import { SqliteFile } from './sqlite-file.ts'
import { TASK_SCHEMA } from './tasks-schema.ts'
import { SqliteTaskStore } from './tasks-sqlite.ts'

/** Options of `sqlite`. */
export interface SqliteOptions {
  /**
   * `full` writes each change to the disk before it counts, so that it survives even a loss of power. `normal` is several times as
   * fast and survives a crash of the process, but a loss of power may undo the last changes. Default: `full`.
   */
  readonly synchronous?: 'full' | 'normal' | undefined
  /** How long a change waits while other processes use the file. Default: 10 s. */
  readonly busyTimeout?: Duration | undefined
}

const OPTIONS: KindsOf<SqliteOptions> = { synchronous: oneOf('full', 'normal'), busyTimeout: DURATION }

/**
 * Keeps tasks in a file of SQLite, so that they survive a restart. Several processes may share the file, and it may hold tables of
 * your own. Uses the SQLite of Node, or, before Node 22.13, the package `libsql`.
 *
 * @example
 * const app = createServer({ name: 'films', version: '1.0.0', store: sqlite('films.db') })
 */
export function sqlite(path: string, options: SqliteOptions = {}): StoreDriver {
  return openSqlite(path, options, findEngine)
}

/** The same with an engine of choice. */
export function openSqlite(path: string, options: SqliteOptions, engine: () => OpenDatabase): StoreDriver {
  const where = 'sqlite'
  checkOptions(where, options, OPTIONS)
  const isPath = typeof path === 'string' && path !== '' && path !== ':memory:' && !/^[a-z]+:\/\//i.test(path)
  if (!isPath) throw badOption(where, `the first argument must be the path of a file, such as 'app.db'`)
  const open = engine()
  const { synchronous = 'full', busyTimeout = '10s' } = options
  const file = new SqliteFile(
    {
      path: builtin('node:path')?.resolve(path) ?? path,
      open,
      synchronous,
      busyMs: toMs(busyTimeout, where),
    },
    [TASK_SCHEMA],
  )
  const tasks = new SqliteTaskStore(file)
  return { tasks, close: () => tasks.close() }
}
