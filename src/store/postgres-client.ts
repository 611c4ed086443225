import { mcpError } from '../errors/error.ts'
import { POSTGRES_UNAVAILABLE } from '../errors/store.ts'

/** A pool that you made: a `Pool` of `pg`, or one that behaves like it. */
export interface PostgresPool {
  /** Gives a connection of the pool, which `release` returns to it. */
  connect(): Promise<object>
}

/** A value in a statement. */
export type Param = string | number | null | readonly (string | number)[]

/** A statement as `pg` takes it. */
export interface Query {
  readonly text: string
  readonly values?: readonly Param[]
  /** The name of the prepared statement. */
  readonly name?: string
  readonly rowMode?: 'array'
  readonly query_timeout: number
  readonly types?: { getTypeParser(type: number): (text: string) => unknown }
}

type Listener = (...values: readonly unknown[]) => void

interface Emitter {
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
}

/** The part of a connection that the stores use. */
export interface Client extends Emitter {
  query(query: Query): Promise<{ readonly rows: readonly unknown[] }>
  /** Returns the connection to its pool, or closes it. */
  release(isBroken: boolean): void
}

/** The part of a pool that the stores use. */
export interface Pool extends Emitter {
  connect(): Promise<Client>
  end(): Promise<void>
}

interface Pg {
  readonly Pool: new (options: object) => Pool
}

/** Makes a pool, which does not connect yet. `connections` is the number for steps; one more waits for news. */
export async function makePool(
  connectionString: string,
  connections: number,
  timeoutMs: number,
): Promise<Pool> {
  const { Pool } = await loadPg()
  return new Pool({
    connectionString,
    max: connections + 1,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    application_name: 'pierhead',
  })
}

async function loadPg(): Promise<Pg> {
  try {
    const loaded = (await import('pg')) as unknown as Pg & { readonly default?: Pg }
    return loaded.default ?? loaded
  } catch (cause) {
    throw mcpError(POSTGRES_UNAVAILABLE, { reason: 'the package pg cannot be loaded' }, { cause })
  }
}

/** `int8`, `int2`, `int4`, `float4` and `float8`. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 700, 701])

/** Reads columns in the same way whatever parsers the program has set: numbers are numbers, and all else is text. */
export const TYPES: NonNullable<Query['types']> = {
  getTypeParser: (type) => (NUMBERS.has(type) ? Number : String),
}
