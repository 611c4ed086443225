import { mcpError } from '../errors/error.ts'
import { SQLITE_UNAVAILABLE } from '../errors/store.ts'
import { builtin } from './builtin.ts'

/** A value of a column. */
export type Value = string | number | null

/** A row: its values, in the order of the columns. Damaged rows may have values of any type. */
export type Row = readonly unknown[]

/** The part of a prepared statement that both engines share. */
export interface Statement {
  run(...values: readonly Value[]): unknown
  get(...values: readonly Value[]): unknown
  all(...values: readonly Value[]): readonly unknown[]
  /** Whether it has rows, in `libsql`. */
  readonly reader?: boolean
  /** Makes rows lists instead of objects, in `libsql`. */
  raw?(isOn: boolean): unknown
  /** The same in newer versions of Node. */
  setReturnArrays?(isOn: boolean): unknown
}

/** The part of a database that both engines share. */
export interface Database {
  exec(sql: string): unknown
  prepare(sql: string): Statement
  close(): unknown
}

/** Opens a file, which is created if there is none. */
export type OpenDatabase = (path: string) => Database

/** A statement whose rows are lists, which cost about half as much as objects. */
export function withRows(statement: Statement): Statement {
  if (statement.setReturnArrays !== undefined) statement.setReturnArrays(true)
  else if (statement.raw === undefined) return fromObjects(statement)
  else if (statement.reader === true) statement.raw(true)
  return statement
}

function fromObjects(statement: Statement): Statement {
  const listOf = (row: unknown): unknown => (row === undefined ? undefined : Object.values(row as object))
  return {
    run: (...values) => statement.run(...values),
    get: (...values) => listOf(statement.get(...values)),
    all: (...values) => statement.all(...values).map(listOf),
  }
}

type Constructor = new (path: string) => Database

/** The SQLite of Node, or else the package `libsql`. Neither is loaded before it is needed. */
export function findEngine(): OpenDatabase {
  return nodeEngine() ?? libsqlEngine()
}

/** The SQLite that Node has since 22.13. */
export function nodeEngine(): OpenDatabase | undefined {
  const DatabaseSync = builtin('node:sqlite')?.DatabaseSync as Constructor | undefined
  return DatabaseSync === undefined ? undefined : (path) => new DatabaseSync(path)
}

/** The package `libsql`, which runs on every Node that we support. */
export function libsqlEngine(load: () => unknown = requireLibsql): OpenDatabase {
  let Libsql: unknown
  try {
    Libsql = load()
  } catch (cause) {
    throw mcpError(
      SQLITE_UNAVAILABLE,
      { reason: 'this runtime has none, and the package libsql cannot be loaded' },
      { cause },
    )
  }
  if (typeof Libsql !== 'function')
    throw mcpError(SQLITE_UNAVAILABLE, { reason: 'this version of libsql is not supported; use version 0.5' })
  const Opened = Libsql as Constructor
  return (path) => new Opened(path)
}

function requireLibsql(): unknown {
  const module = builtin('node:module')
  if (module === undefined) throw new Error('this runtime has no node:module')
  return module.createRequire(import.meta.url)('libsql')
}
