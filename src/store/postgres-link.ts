import { pause } from '../base/backoff.ts'
import { lazy } from '../base/lazy.ts'
import { crowded } from './crowded.ts'
import { Lifetime } from './lifetime.ts'
import { makePool, TYPES, type Client, type Param, type Pool, type PostgresPool } from './postgres-client.ts'
import { endsConnection, isLate, isReply, LATE, mayRepeat, postgresFailure } from './postgres-failure.ts'
import { migrate } from './postgres-schema.ts'
import type { Row } from './sqlite-engine.ts'

export interface LinkSettings {
  readonly connectionString: string
  /** The pool that is used instead. */
  readonly pool: PostgresPool | undefined
  /** Where the server is, without credentials. */
  readonly place: string
  readonly schema: string
  readonly connections: number
  readonly timeoutMs: number
}

/** How a step is done. */
export interface StepOptions {
  /** Whether it must not be repeated if its answer is lost, because doing it twice differs from doing it once. */
  readonly isOnce?: boolean
}

/** Runs statements over one connection. `?` stands for a value, and tables have no schema. */
export interface Session {
  query(sql: string, ...values: readonly Param[]): Promise<readonly Row[]>
  /** Runs statements without values. */
  exec(sql: string): Promise<void>
}

/** Something that is done over a connection. `isRepeated` says that it may have been done already. */
export type Act<Value> = (session: Session, isRepeated: boolean) => Promise<Value>

/** The pause before a step is repeated. */
const REPEAT_MS = 20

/** How many steps wait for a connection. More than a server should have at once. */
const MOST_WAITING = 10_000

/** How many statements are prepared. Only unusual combinations of columns are more. */
const MOST_PREPARED = 200

const ignore = (): void => {}

/** The connections of a driver to PostgreSQL. */
export class PostgresLink {
  readonly lifetime: Lifetime = new Lifetime()
  readonly settings: LinkSettings
  readonly #pool = lazy(() => this.#open())
  readonly #start = lazy(() => this.#migrate())
  readonly #statements = new Map<string, { readonly text: string; readonly name?: string }>()
  /** Begins the names of prepared statements: several drivers may use one pool. */
  readonly #name = `pierhead_${crypto.randomUUID().slice(0, 8)}`
  #opened: Pool | undefined
  #waiting = 0
  /** Since when no connection could be had; `Infinity` while that works. */
  #awaySince = Infinity
  /** When the server answered last. */
  #answeredAt = -Infinity

  constructor(settings: LinkSettings) {
    this.settings = settings
  }

  /** Runs one statement, which is one atomic step. */
  query(sql: string, values: readonly Param[], options?: StepOptions): Promise<readonly Row[]> {
    return this.step((session) => session.query(sql, ...values), options)
  }

  /** Runs a transaction that begins with a lock of this name, which others wait for. */
  transaction<Value>(lock: string, act: Act<Value>, options?: StepOptions): Promise<Value> {
    return this.step((session, isRepeated) => this.#locked(session, lock, isRepeated, act), options)
  }

  /** Does a step, and repeats it while the connection fails and there is time. */
  async step<Value>(act: Act<Value>, options: StepOptions = {}): Promise<Value> {
    this.lifetime.check()
    await this.#start()
    return this.#insist(act, options)
  }

  /** A connection that stays with its user until it is released. Rejects if there is none in time. */
  async connect(): Promise<Client> {
    const pool = await this.#pool()
    const { timeoutMs } = this.settings
    const began = performance.now()
    const connecting = pool.connect()
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        connecting.then((client) => client.release(false), ignore)
        reject(new Error(`${LATE} within ${timeoutMs} ms`))
      }, timeoutMs)
    })
    try {
      const client = await Promise.race([connecting, late])
      this.#awaySince = Infinity
      // Without a listener, a connection that breaks between two statements would end the process.
      client.on('error', ignore)
      return client
    } catch (error) {
      // Others got answers meanwhile, so the server is not away.
      if (isLate(error) && this.#answeredAt >= began)
        throw this.#crowded(`no connection was free for ${timeoutMs} ms`)
      this.#awaySince = Math.min(this.#awaySince, performance.now())
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns a connection to the pool, or closes it. */
  release(client: Client, isBroken: boolean): void {
    client.removeListener('error', ignore)
    // A connection that is closed may still report errors.
    if (isBroken) client.on('error', ignore)
    client.release(isBroken)
  }

  /** The statements of one connection. */
  session(client: Client): Session {
    const { timeoutMs } = this.settings
    return {
      query: async (sql, ...values) => {
        const query = { ...this.#statement(sql), values, rowMode: 'array', types: TYPES } as const
        return (await client.query({ ...query, query_timeout: timeoutMs })).rows as readonly Row[]
      },
      exec: async (sql) => {
        await client.query({ text: this.#qualified(sql), query_timeout: timeoutMs })
      },
    }
  }

  /** The error for the user; `store_closed` if the driver was closed meanwhile. */
  failure(error: unknown): Error {
    this.lifetime.check()
    return postgresFailure(this.settings.place, error)
  }

  async close(): Promise<void> {
    if (this.lifetime.isOver) return
    this.lifetime.end()
    const pool = this.#opened
    if (pool === undefined) return
    pool.removeListener('error', ignore)
    if (this.settings.pool !== undefined) return
    pool.on('error', ignore)
    await pool.end()
  }

  async #insist<Value>(act: Act<Value>, { isOnce = false }: StepOptions): Promise<Value> {
    if (this.#waiting >= MOST_WAITING) throw this.#crowded(`${MOST_WAITING} steps wait`)
    const began = performance.now()
    // A server that is away for longer is not waited for.
    const until = Math.min(began, this.#awaySince) + this.settings.timeoutMs
    let isSent = false
    this.#waiting++
    try {
      for (;;) {
        this.lifetime.check()
        try {
          return await this.#once(act, isSent, () => void (isSent = true))
        } catch (error) {
          if (!mayRepeat(error) || (isOnce && isSent && !isReply(error)) || performance.now() >= until)
            throw this.failure(error)
        }
        await pause(REPEAT_MS)
      }
    } finally {
      this.#waiting--
    }
  }

  async #once<Value>(act: Act<Value>, isRepeated: boolean, onSend: () => void): Promise<Value> {
    const client = await this.connect()
    let isBroken = true
    try {
      onSend()
      const value = await act(this.session(client), isRepeated)
      isBroken = false
      this.#answeredAt = performance.now()
      return value
    } catch (error) {
      isBroken = !isReply(error) || endsConnection(error)
      throw error
    } finally {
      this.release(client, isBroken)
    }
  }

  /** A process that stands still loses the transaction, so that others need not wait for it. */
  async #locked<Value>(session: Session, lock: string, isRepeated: boolean, act: Act<Value>): Promise<Value> {
    const { schema, timeoutMs } = this.settings
    const ms = Math.ceil(timeoutMs)
    try {
      await session.exec(
        `BEGIN; SET LOCAL statement_timeout = ${ms}; SET LOCAL idle_in_transaction_session_timeout = ${ms}; SELECT pg_advisory_xact_lock(hashtextextended('pierhead:${schema}:${lock}', 0))`,
      )
      const value = await act(session, isRepeated)
      await session.exec('COMMIT')
      return value
    } catch (error) {
      // Also if the lock did not come in time: the next user of the connection must not be inside this transaction.
      if (isReply(error) && !endsConnection(error)) await session.exec('ROLLBACK')
      throw error
    }
  }

  #crowded(why: string): Error {
    return crowded(
      `${why} for PostgreSQL at ${this.settings.place}; check that it is fast enough, or allow more connections`,
    )
  }

  async #open(): Promise<Pool> {
    const { pool, connectionString, connections, timeoutMs } = this.settings
    const opened =
      pool === undefined
        ? await makePool(connectionString, connections, timeoutMs)
        : (pool as unknown as Pool)
    this.lifetime.check()
    // Without a listener, an idle connection that breaks would end the process.
    opened.on('error', ignore)
    return (this.#opened = opened)
  }

  async #migrate(): Promise<true> {
    const { schema, place } = this.settings
    const locked = <Value>(act: Act<Value>): Promise<Value> =>
      this.#insist((session, isRepeated) => this.#locked(session, 'schema', isRepeated, act), {})
    await migrate({ schema, place, read: (act) => this.#insist(act, {}), locked })
    return true
  }

  #statement(sql: string): { readonly text: string; readonly name?: string } {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    let place = 0
    const text = this.#qualified(sql).replaceAll('?', () => `$${++place}`)
    if (this.#statements.size >= MOST_PREPARED) return { text }
    const statement = { text, name: `${this.#name}_${this.#statements.size}` }
    this.#statements.set(sql, statement)
    return statement
  }

  /** Adds the schema to the names of tables; the names of schemas follow a quote or a colon. */
  #qualified(sql: string): string {
    return sql.replaceAll(/(?<![":])\bpierhead_/g, `"${this.settings.schema}".pierhead_`)
  }
}
