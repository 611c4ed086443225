import { mcpError } from '../errors/error.ts'
import { STORE_BUSY, STORE_CLOSED, STORE_FAILED } from '../errors/store.ts'
import { builtin } from './builtin.ts'
import type { Database, Row, Statement, Value, OpenDatabase } from './sqlite-engine.ts'
import { isBusy, storeFailure } from './sqlite-failure.ts'

/** The tables of one kind of store: one script for each version. */
export interface Schema {
  readonly kind: string
  /** The first creates the tables; each further one changes those of the version before. */
  readonly migrations: readonly string[]
}

/** How a file is opened. */
export interface FileSettings {
  /** An absolute path. */
  readonly path: string
  readonly open: OpenDatabase
  /** Whether commits survive a loss of power, or only of the process. */
  readonly synchronous: 'full' | 'normal'
  /** How long to wait for other processes. */
  readonly busyMs: number
}

/** SQLite itself waits this long for a lock, and blocks the process; longer waits are made of several such. */
const BLOCKED_MS = 100
/** The pause between two such waits. */
const PAUSE_MS = 10
/** The most steps that are committed together: they block the process. */
const BATCH = 256

interface Step {
  run(): void
  done(): void
  fail(error: unknown): void
}

/** Creates a file that only its owner can read, unless it exists; SQLite gives those beside it the same mode. */
function createPrivately(path: string): void {
  const fs = builtin('node:fs')
  try {
    fs?.closeSync(fs.openSync(path, 'a', 0o600))
  } catch {
    // SQLite opens it too, and says why it cannot.
  }
}

/**
 * A file of SQLite. Steps that come at the same time are committed together, because a commit waits for the disk; none is
 * answered before that.
 */
export class SqliteFile {
  readonly path: string
  readonly #database: Database
  readonly #busyMs: number
  readonly #statements = new Map<string, Statement>()
  #steps: Step[] = []
  #flushing: Promise<void> | undefined
  #closed = false

  constructor({ path, open, synchronous, busyMs }: FileSettings, schemas: readonly Schema[]) {
    this.path = path
    this.#busyMs = busyMs
    createPrivately(path)
    try {
      this.#database = open(path)
    } catch (error) {
      throw storeFailure(path, error)
    }
    try {
      this.#insist(() => this.#prepare(synchronous, schemas))
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** Rows of a query, inside `read` or `write`. */
  all(sql: string, ...values: readonly Value[]): readonly Row[] {
    return this.#statement(sql).all(...values) as readonly Row[]
  }

  /** The first row of a query, inside `read` or `write`. */
  get(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  /** Changes the file, inside `write`. */
  run(sql: string, ...values: readonly Value[]): void {
    this.#statement(sql).run(...values)
  }

  /** Runs a query, and answers at once. */
  read<Result>(act: () => Result): Result {
    if (this.#closed) throw mcpError(STORE_CLOSED, {})
    try {
      return act()
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** Runs `act` in a transaction, and answers once that is committed. It may run more than once; only the last time counts. */
  write<Result>(act: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(mcpError(STORE_CLOSED, {}))
    return new Promise<Result>((resolve, reject) => {
      let result: Result
      this.#steps.push({
        run: () => void (result = act()),
        done: () => resolve(result),
        fail: reject,
      })
      this.#flushing ??= this.#flush()
    })
  }

  /** Waits for the steps under way, and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return this.#flushing
    this.#closed = true
    this.#flushing = (this.#flushing ?? Promise.resolve()).then(() => {
      this.#database.close()
    })
    return this.#flushing
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  async #flush(): Promise<void> {
    while (this.#steps.length > 0) {
      // Steps of all requests that arrived together are collected.
      await new Promise((resolve) => void setImmediate(resolve))
      await this.#commit(this.#steps.splice(0, BATCH))
    }
    if (!this.#closed) this.#flushing = undefined
  }

  async #commit(steps: readonly Step[]): Promise<void> {
    const until = performance.now() + this.#busyMs
    let left = steps
    while (left.length > 0) {
      try {
        left = this.#attempt(left)
      } catch (error) {
        if (isBusy(error) && performance.now() < until) {
          await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS * (0.5 + Math.random())))
          continue
        }
        const failure = this.#failure(error)
        for (const step of left) step.fail(failure)
        return
      }
    }
  }

  /** Commits the steps. If one fails, nothing happened; answers the others, to be tried again without it. */
  #attempt(steps: readonly Step[]): readonly Step[] {
    this.#database.exec('BEGIN IMMEDIATE')
    let committed = false
    try {
      for (const step of steps) {
        try {
          step.run()
        } catch (error) {
          if (isBusy(error)) throw error
          step.fail(storeFailure(this.path, error))
          return steps.filter((other) => other !== step)
        }
      }
      this.#database.exec('COMMIT')
      committed = true
    } finally {
      if (!committed) this.#rollBack()
    }
    for (const step of steps) step.done()
    return []
  }

  /** After some errors, SQLite has rolled back by itself. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {}
  }

  #prepare(synchronous: 'full' | 'normal', schemas: readonly Schema[]): void {
    const database = this.#database
    database.exec(`PRAGMA busy_timeout = ${BLOCKED_MS}`)
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() as Row
    if (mode !== 'wal')
      throw this.#failed('its file system has no shared memory', 'Put the file on a local disk.')
    // A file that is up to date opens even while others write.
    if (schemas.every((schema) => this.#versionOf(schema) === schema.migrations.length)) return
    database.exec('BEGIN IMMEDIATE')
    let committed = false
    try {
      database.exec(
        'CREATE TABLE IF NOT EXISTS pierhead_versions (kind TEXT PRIMARY KEY, version INTEGER NOT NULL)',
      )
      for (const schema of schemas) this.#migrate(schema)
      database.exec('COMMIT')
      committed = true
    } finally {
      if (!committed) this.#rollBack()
    }
  }

  #migrate(schema: Schema): void {
    const { kind, migrations } = schema
    for (const script of migrations.slice(this.#versionOf(schema))) this.#database.exec(script)
    const set = this.#database.prepare('INSERT OR REPLACE INTO pierhead_versions VALUES (?, ?)')
    set.run(kind, migrations.length)
  }

  /** The version of the tables of a kind; 0 if there are none. */
  #versionOf({ kind, migrations }: Schema): number {
    const tables = this.#database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'pierhead_versions'`)
    if (tables.get() === undefined) return 0
    const row = this.#database.prepare('SELECT version FROM pierhead_versions WHERE kind = ?').get(kind)
    const version = Number((row as Row | undefined)?.['version'] ?? 0)
    if (version <= migrations.length) return version
    const reason = `its ${kind} have version ${version} of their tables, and this program knows only up to ${migrations.length}`
    throw this.#failed(
      reason,
      'Use the newer version of Pierhead that wrote the file, or pass sqlite another path.',
    )
  }

  /** Retries while other processes hold locks. Two that switch a new file to WAL at once fail immediately, whatever the timeout. */
  #insist(act: () => void): void {
    const until = performance.now() + this.#busyMs
    const sleeper = new Int32Array(new SharedArrayBuffer(4))
    for (;;) {
      try {
        return act()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw this.#failure(error)
        Atomics.wait(sleeper, 0, 0, PAUSE_MS * (0.5 + Math.random()))
      }
    }
  }

  #failure(error: unknown): Error {
    return isBusy(error) ? this.#busy() : storeFailure(this.path, error)
  }

  #busy(): Error {
    return mcpError(STORE_BUSY, { path: this.path, ms: this.#busyMs })
  }

  #failed(reason: string, hint: string): Error {
    return mcpError(STORE_FAILED, { path: this.path, reason }, { hint })
  }
}
