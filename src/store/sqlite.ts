import { toMs, type Duration } from '../base/duration.ts'
import { DURATION, oneOf, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { StoreDriver } from './driver.ts'
import { findEngine, type OpenDatabase } from './sqlite-engine.ts'
import { SqliteFile } from './sqlite-file.ts'
import { toPath } from './sqlite-path.ts'
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
  /**
   * How long a process counts as alive after its last sign of life, of which there are three in this time. Other processes then take
   * over its tasks. A shorter time helps sooner after a crash; one that is shorter than pauses of the process, such as a busy event
   * loop, lets others repeat its work. From 1 s to 24 h. Default: 15 s.
   */
  readonly lease?: Duration | undefined
}

const OPTIONS: KindsOf<SqliteOptions> = {
  synchronous: oneOf('full', 'normal'),
  busyTimeout: DURATION,
  lease: DURATION,
}
const SHORTEST_LEASE_MS = 1000
const LONGEST_LEASE_MS = 24 * 60 * 60 * 1000

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
  const absolute = toPath(where, path)
  const { synchronous = 'full', busyTimeout = '10s', lease = '15s' } = options
  const leaseMs = toMs(lease, `${where} lease`)
  if (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_LEASE_MS)
    throw badOption(`${where} lease`, "use a time from '1s' to '24h', such as '15s'")
  const open = engine()
  const busyMs = toMs(busyTimeout, where)
  const file = new SqliteFile({ path: absolute, open, synchronous, busyMs }, [TASK_SCHEMA])
  const tasks = new SqliteTaskStore(file, leaseMs)
  return { tasks, close: () => tasks.close() }
}
