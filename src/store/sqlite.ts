import { toMs, type Duration } from '../base/duration.ts'
import { DURATION, FLAG, oneOf, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { SqliteCacheStore } from './cache-sqlite.ts'
import { BUS_ROOM } from './changes-memory.ts'
import { SqliteChangeBus } from './changes-sqlite.ts'
import type { DriverOf } from './driver.ts'
import { SqliteEventStore } from './events-sqlite.ts'
import { SqliteNodeStore } from './nodes-sqlite.ts'
import { SqliteRateStore } from './rates-sqlite.ts'
import { SqliteSessionStore } from './sessions-sqlite.ts'
import { SHARED_SCHEMAS } from './shared-schema.ts'
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
  /**
   * Whether several processes of this machine serve the same clients. The file then also keeps sessions, events and the other kinds of
   * store, and each change of them waits for the disk. Default: `false`.
   */
  readonly shared?: boolean | undefined
}

const OPTIONS: KindsOf<SqliteOptions> = {
  synchronous: oneOf('full', 'normal'),
  busyTimeout: DURATION,
  lease: DURATION,
  shared: FLAG,
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
export function sqlite(path: string, options: SqliteOptions = {}): DriverOf<'tasks'> {
  return openSqlite(path, options, findEngine)
}

/** The same with an engine of choice. */
export function openSqlite(
  path: string,
  options: SqliteOptions,
  engine: () => OpenDatabase,
): DriverOf<'tasks'> {
  const where = 'sqlite'
  checkOptions(where, options, OPTIONS)
  const absolute = toPath(where, path)
  const { synchronous = 'full', busyTimeout = '10s', lease = '15s', shared = false } = options
  const leaseMs = toMs(lease, `${where} lease`)
  if (leaseMs < SHORTEST_LEASE_MS || leaseMs > LONGEST_LEASE_MS)
    throw badOption(`${where} lease`, "use a time from '1s' to '24h', such as '15s'")
  const open = engine()
  const busyMs = toMs(busyTimeout, where)
  const schemas = shared ? [TASK_SCHEMA, ...SHARED_SCHEMAS] : [TASK_SCHEMA]
  const file = new SqliteFile({ path: absolute, open, synchronous, busyMs }, schemas)
  const tasks = new SqliteTaskStore(file, leaseMs)
  if (!shared) return { tasks, close: () => tasks.close() }
  const nodes = new SqliteNodeStore(file)
  const events = new SqliteEventStore(file, nodes)
  const changes = new SqliteChangeBus(file, BUS_ROOM, nodes)
  return {
    sessions: new SqliteSessionStore(file, nodes),
    events,
    tasks,
    changes,
    cache: new SqliteCacheStore(file),
    rates: new SqliteRateStore(file),
    nodes,
    close() {
      events.close()
      changes.close()
      return tasks.close()
    },
  }
}
