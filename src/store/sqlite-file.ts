import { delayOf, pause } from '../base/backoff.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { STORE_BUSY, STORE_CLOSED, STORE_FAILED } from '../errors/store.ts'
import type { Soon } from '../tasks/store.ts'
import { builtin } from './builtin.ts'
import { crowded } from './crowded.ts'
import {
  withRows,
  type Database,
  type OpenDatabase,
  type Row,
  type Statement,
  type Value,
} from './sqlite-engine.ts'
import { checkFile, isBusy, storeFailure } from './sqlite-failure.ts'

/** The tables of one kind of store: one script for each version. */
export interface Schema {
  readonly kind: string
  /** The first creates the tables; each further one changes those of the version before. A function makes what differs in each file. */
  readonly migrations: readonly (string | (() => string))[]
  /**
   * The least version that a program must know to work with the newest tables. Programs of that version go on while newer ones
   * bring the tables up to date, so a migration raises it only if their statements would fail or do harm: a new table, index or
   * column with a default does neither.
   */
  readonly needs: number
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

/** The pauses between attempts to get a lock. SQLite itself never waits for one, because it would block the process. */
const LOCK_PAUSES = { firstMs: 2, maxMs: 50 }
/** The memory for pages of the file. With SQLite's own 2 MB, a step costs more the larger the file is. */
const CACHE_KB = 16_000
/** The most steps that are committed together: they block the process. */
const BATCH = 256
/** The most steps that wait for a commit: the disk is then too slow, or another process holds a lock. */
const MOST_WAITING = 10_000

interface Step {
  run(): void
  done(): void
  fail(error: unknown): void
  /** When it gives up to wait for a lock. */
  readonly until: number
}

/** Work that the steps of a transaction share, so that it is done once for all of them. */
export interface Shared {
  /** A transaction begins: what an earlier one collected does not count. */
  begin(): void
  /** Its steps have run: writes what they collected. */
  end(): void
}

/** Where the least version is kept that a program must know. */
function needsOf(kind: string): string {
  return `${kind} needs`
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
  readonly #schemas: readonly Schema[]
  readonly #busyMs: number
  readonly #statements = new Map<string, Statement>()
  readonly #shared: Shared[] = []
  #steps: Step[] = []
  #flushing: Promise<void> | undefined
  #closed = false

  constructor({ path, open, synchronous, busyMs }: FileSettings, schemas: readonly Schema[]) {
    this.path = path
    this.#schemas = schemas
    this.#busyMs = busyMs
    checkFile(path)
    createPrivately(path)
    try {
      this.#database = open(path)
    } catch (error) {
      throw storeFailure(path, error)
    }
    try {
      this.insist(() => this.#prepare(synchronous, schemas))
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** Adds work that steps share. */
  share(work: Shared): void {
    this.#shared.push(work)
  }

  /** Retries while other processes hold locks, and blocks the process: only on opening. Two that switch a new file to WAL at once fail immediately, whatever the timeout. */
  insist<Result>(act: () => Result): Result {
    const until = performance.now() + this.#busyMs
    const sleeper = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; ; tries++) {
      try {
        return act()
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw this.#failure(error)
        Atomics.wait(sleeper, 0, 0, delayOf(tries, LOCK_PAUSES, Math.random))
      }
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

  /** Runs a query, and answers at once, or after a lock: readers meet one only while a process opens or closes the file. */
  read<Result>(act: () => Result): Soon<Result> {
    try {
      return this.readNow(act)
    } catch (error) {
      if (!isBusy(error)) throw error
      return this.#readLater(act)
    }
  }

  /** Runs a query. Throws the error of the engine if there is a lock. */
  readNow<Result>(act: () => Result): Result {
    if (this.#closed) throw mcpError(STORE_CLOSED, {})
    try {
      return act()
    } catch (error) {
      throw isBusy(error) ? error : this.#explained(error)
    }
  }

  async #readLater<Result>(act: () => Result): Promise<Result> {
    const until = performance.now() + this.#busyMs
    for (let tries = 0; ; tries++) {
      await pause(delayOf(tries, LOCK_PAUSES, Math.random))
      try {
        return this.readNow(act)
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw this.#failure(error)
      }
    }
  }

  /** Runs `act` in a transaction, and answers once that is committed. It may run more than once; only the last time counts. */
  write<Result>(act: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(mcpError(STORE_CLOSED, {}))
    if (this.#steps.length >= MOST_WAITING) return Promise.reject(this.#crowded())
    return new Promise<Result>((resolve, reject) => {
      let result: Result
      this.#steps.push({
        run: () => void (result = act()),
        done: () => resolve(result),
        fail: reject,
        until: performance.now() + this.#busyMs,
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
    const statement = withRows(this.#database.prepare(sql))
    this.#statements.set(sql, statement)
    return statement
  }

  async #flush(): Promise<void> {
    let tries = 0
    while (this.#steps.length > 0) {
      // Steps of all requests that arrived together are collected.
      if (tries === 0) await new Promise((resolve) => void setImmediate(resolve))
      else await pause(delayOf(tries - 1, LOCK_PAUSES, Math.random))
      tries = this.#commit() ? 0 : tries + 1
    }
    if (!this.#closed) this.#flushing = undefined
  }

  /** Commits the steps that came first. False if they wait for a lock, except those that have waited long enough. */
  #commit(): boolean {
    let left: readonly Step[] = this.#steps.splice(0, BATCH)
    try {
      while (left.length > 0) left = this.#attempt(left)
      return true
    } catch (error) {
      const failure = this.#failure(error)
      if (!isBusy(error)) {
        for (const step of left) step.fail(failure)
        return true
      }
      const now = performance.now()
      const waiting = [...left, ...this.#steps]
      this.#steps = waiting.filter(({ until }) => until > now)
      for (const step of waiting) if (step.until <= now) step.fail(failure)
      return false
    }
  }

  /** Commits the steps. If one fails, nothing happened; answers the others, to be tried again without it. */
  #attempt(steps: readonly Step[]): readonly Step[] {
    this.#database.exec('BEGIN IMMEDIATE')
    let committed = false
    try {
      for (const work of this.#shared) work.begin()
      for (const step of steps) {
        try {
          step.run()
        } catch (error) {
          if (isBusy(error)) throw error
          step.fail(this.#explained(error))
          return steps.filter((other) => other !== step)
        }
      }
      for (const work of this.#shared) work.end()
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
    database.exec('PRAGMA busy_timeout = 0')
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    database.exec(`PRAGMA cache_size = -${CACHE_KB}`)
    const [mode] = this.get('PRAGMA journal_mode = WAL') ?? []
    if (mode !== 'wal')
      throw this.#failed('its file system has no shared memory', 'Put the file on a local disk.')
    // A file that is up to date opens even while others write.
    if (schemas.every((schema) => this.#versionOf(schema) >= schema.migrations.length)) return
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
    const { kind, migrations, needs } = schema
    const version = this.#versionOf(schema)
    if (version >= migrations.length) return
    for (const script of migrations.slice(version))
      this.#database.exec(typeof script === 'string' ? script : script())
    const set = 'INSERT OR REPLACE INTO pierhead_versions (kind, version) VALUES (?, ?)'
    this.run(set, kind, migrations.length)
    this.run(set, needsOf(kind), needs)
  }

  /** The version of the tables of a kind; 0 if there are none. Throws if this program cannot work with them. */
  #versionOf({ kind, migrations }: Schema): number {
    if (this.get(`SELECT 1 FROM sqlite_master WHERE name = 'pierhead_versions'`) === undefined) return 0
    const read = (name: string): unknown =>
      this.get('SELECT version FROM pierhead_versions WHERE kind = ?', name)?.[0]
    const version = Number(read(kind) ?? 0)
    if (version <= migrations.length || Number(read(needsOf(kind)) ?? version) <= migrations.length)
      return version
    const reason = `its ${kind} have version ${version} of their tables, and this program knows only up to ${migrations.length}`
    throw this.#failed(
      reason,
      'Use the newer version of Pierhead that wrote the file, or pass sqlite another path.',
    )
  }

  /** The error of a statement, which may have failed because a newer program has changed the tables meanwhile. */
  #explained(error: unknown): Error {
    try {
      for (const schema of this.#schemas) this.#versionOf(schema)
    } catch (newer) {
      if (newer instanceof McpError) return newer
    }
    return storeFailure(this.path, error)
  }

  #failure(error: unknown): Error {
    return isBusy(error) ? this.#busy() : storeFailure(this.path, error)
  }

  #busy(): Error {
    return mcpError(STORE_BUSY, { path: this.path, ms: this.#busyMs })
  }

  #crowded(): Error {
    return crowded(
      `${MOST_WAITING} changes wait for ${this.path}; check that its disk is fast enough and that no process keeps it locked`,
    )
  }

  #failed(reason: string, hint: string): Error {
    return mcpError(STORE_FAILED, { path: this.path, reason }, { hint })
  }
}
