import { toMs, type Duration } from '../base/duration.ts'
import { COUNT, DURATION, object, TEXT, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions, rejectSecond } from '../base/options.ts'
import { PostgresCacheStore } from './cache-postgres.ts'
import type { DriverOf } from './driver.ts'
import { PostgresNodeStore } from './nodes-postgres.ts'
import type { PostgresPool } from './postgres-client.ts'
import { PostgresLink } from './postgres-link.ts'
import { PostgresRateStore } from './rates-postgres.ts'
import { PostgresTaskStore } from './tasks-postgres.ts'

export type { PostgresPool } from './postgres-client.ts'

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Where the database is, with user and password if it needs them. Default: `postgres://127.0.0.1:5432/postgres`. */
  readonly connectionString?: string | undefined
  /**
   * A pool that you made, for certificates and other settings. It is used instead of `connectionString`, and needs at least two connections,
   * of which one waits for news. You close it, after the store. Default: none.
   */
  readonly pool?: PostgresPool | undefined
  /** The schema of the tables, which is created if it does not exist. Default: `pierhead`. */
  readonly schema?: string | undefined
  /** How many connections are used at once, besides the one that waits for news; only without `pool`. From 1 to 1,000. Default: 8. */
  readonly connections?: number | undefined
  /** How long a statement may take, and how long a step waits while the server is away; then it fails. From 10 ms to 1 h. Default: 5 s. */
  readonly commandTimeout?: Duration | undefined
  /**
   * How long a process counts as alive after its last sign of life, of which there are three in this time. Other processes then take
   * over its tasks. From 1 s to 24 h. Default: 15 s.
   */
  readonly lease?: Duration | undefined
}

const OPTIONS: KindsOf<PostgresOptions> = {
  connectionString: TEXT,
  pool: object('a pool of pg'),
  schema: TEXT,
  connections: COUNT,
  commandTimeout: DURATION,
  lease: DURATION,
}

type PostgresDriver = DriverOf<'tasks' | 'cache' | 'rates' | 'nodes'>

const MOST_CONNECTIONS = 1000

/**
 * Keeps tasks, cached texts, counted rates and the registry of nodes in PostgreSQL 12 or newer, so that several nodes can share them. Needs the
 * package `pg`, and connects when it is first used.
 *
 * @example
 * const app = createServer({ name: 'films', version: '1.0.0', store: postgres('postgres://ada:secret@10.0.0.8/films') })
 */
export function postgres(where?: string | PostgresOptions): PostgresDriver
export function postgres(where: string | PostgresOptions = {}, more?: object): PostgresDriver {
  rejectSecond('postgres', 'connectionString', more)
  const options = typeof where === 'string' ? { connectionString: where } : where
  checkOptions<PostgresOptions>('postgres', options, OPTIONS)
  const { pool, schema = 'pierhead', connections = 8, commandTimeout = '5s', lease = '15s' } = options
  const { connectionString = 'postgres://127.0.0.1:5432/postgres' } = options
  checkPool(options)
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,49}$/.test(schema))
    throw badOption('postgres schema', 'use up to 50 letters, digits, hyphens and underscores, such as films')
  if (connections < 1 || connections > MOST_CONNECTIONS)
    throw badOption('postgres connections', `use a number from 1 to ${MOST_CONNECTIONS}`)
  const timeoutMs = within('commandTimeout', commandTimeout, '10ms', '1h', '5s')
  const leaseMs = within('lease', lease, '1s', '24h', '15s')
  const place = pool === undefined ? placeOf(connectionString) : 'the server of the given pool'
  const link = new PostgresLink({ connectionString, pool, place, schema, connections, timeoutMs })
  const tasks = new PostgresTaskStore(link, leaseMs)
  return {
    tasks,
    cache: new PostgresCacheStore(link),
    rates: new PostgresRateStore(link),
    nodes: new PostgresNodeStore(link),
    close: () => tasks.close(),
  }
}

function checkPool({ pool, connectionString, connections }: PostgresOptions): void {
  if (pool === undefined) return
  if (connectionString !== undefined || connections !== undefined)
    throw badOption('postgres', 'pool excludes connectionString and connections; set them on the pool')
  const { connect, options } = pool as Partial<PostgresPool> & {
    readonly options?: { readonly max?: number }
  }
  if (typeof connect !== 'function')
    throw badOption('postgres', 'pool has no function connect; pass a Pool of pg')
  if ((options?.max ?? 2) < 2)
    throw badOption('postgres', 'pool has one connection, and one waits for news; give it max: 2 or more')
}

function within(
  option: string,
  value: Duration,
  shortest: Duration,
  longest: Duration,
  example: string,
): number {
  const ms = toMs(value, `postgres ${option}`)
  if (ms < toMs(shortest, '') || ms > toMs(longest, ''))
    throw badOption(
      `postgres ${option}`,
      `use a time from '${shortest}' to '${longest}', such as '${example}'`,
    )
  return ms
}

/** The host and the database. Errors never repeat the rest, because it may hold a password. */
function placeOf(url: string): string {
  const found = URL.canParse(url) ? new URL(url) : undefined
  if (found === undefined || !['postgres:', 'postgresql:'].includes(found.protocol) || found.host === '')
    throw badOption(
      'postgres',
      "connectionString must be the URL of a database, such as 'postgres://127.0.0.1:5432/films'",
    )
  return `${found.host}${found.pathname}`
}
