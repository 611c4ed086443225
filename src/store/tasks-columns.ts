import { McpError, mcpError } from '../errors/error.ts'
import { TASK_DAMAGED } from '../errors/tasks.ts'
import { outcomeText } from '../tasks/outcome.ts'
import { isTaskStatus } from '../protocol/task-status.ts'
import type { TaskHead, TaskRecord, TaskStatus } from '../tasks/record.ts'
import type { TaskChange, TaskExcerpt, TaskText } from '../tasks/store.ts'
import type { Row, Value } from './sqlite-engine.ts'
import { originalText, storedText } from './stored-text.ts'

/** The columns of heads, by the names of their members. */
const COLUMNS = {
  id: 'id',
  server: 'server',
  owner: 'owner',
  scope: 'scope',
  tool: 'tool',
  key: 'key',
  status: 'status',
  statusMessage: 'status_message',
  isError: 'is_error',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  ttlMs: 'ttl_ms',
  pollMs: 'poll_ms',
  attempt: 'attempt',
  dueAt: 'due_at',
  node: 'node',
  version: 'version',
  network: 'network',
  isShared: 'is_shared',
  same: 'same',
} as const satisfies Readonly<Record<keyof TaskHead, string>>

const NAMES = Object.keys(COLUMNS) as readonly (keyof TaskHead)[]

/** The columns of a head, for queries. */
export const HEAD: string = Object.values(COLUMNS).join(', ')

const VALUES = `(${'?, '.repeat(NAMES.length)}?)`

/** Adds a task to a table: the values of its head, then when it expires. */
export function insertInto(table: string): string {
  return `INSERT INTO ${table} (${HEAD}, expires_at) VALUES ${VALUES}`
}

/** Replaces the head of a task in a table: the values of its head, when it expires, and its place. */
export function replaceIn(table: string): string {
  return `UPDATE ${table} SET (${HEAD}, expires_at) = ${VALUES} WHERE seq = ?`
}

/** The values of a head, in the order of `HEAD`, and when it expires. */
export function valuesOf(head: TaskHead): readonly Value[] {
  const { createdAt, ttlMs } = head
  return [...NAMES.map((name) => stored(head[name])), ttlMs === null ? null : createdAt + ttlMs]
}

/** The columns of a head that a change names, with their values. */
export function changedColumns(change: TaskChange): readonly (readonly [column: string, value: Value])[] {
  return NAMES.flatMap((name) => {
    const value = (change as Partial<TaskHead>)[name]
    return value === undefined ? [] : [[COLUMNS[name], stored(value)] as const]
  })
}

/** The assignments of a change, and their values. Only columns that change are named, so that other indexes stay untouched. */
export function assignments(change: TaskChange): readonly [sql: string, values: readonly Value[]] {
  const named = changedColumns(change)
  const sets = named.map(([column]) => `${column} = ?`)
  const values = named.map(([, value]) => value)
  if (change.ttlMs !== undefined) {
    sets.push('expires_at = created_at + ?')
    values.push(change.ttlMs)
  }
  return [['version = version + 1', ...sets].join(', '), values]
}

/** The head in a row that begins with the columns of `HEAD`. A row that cannot be read gives a task that failed. */
export function headOf(row: Row): TaskHead {
  try {
    return readHead(row)
  } catch (error) {
    return salvagedHead(row, damageIn(error))
  }
}

/** The record in a row with the columns of `HEAD` and then the texts. A row that cannot be read gives a task that failed. */
export function recordOf(row: Row): TaskRecord {
  return readRecord(row).record
}

/** The same, with the error if the row cannot be read. `whenUnreadable` replaces an id and times that are lost. */
export function readRecord(
  row: Row,
  whenUnreadable: Lost = NOTHING,
): { readonly record: TaskRecord; readonly damage?: McpError } {
  const [request, state, outcome] = row.slice(NAMES.length)
  try {
    const texts = { request: textIn(request, 'request'), state: textIn(state, 'state') }
    return { record: { ...readHead(row), ...texts, outcome: textIn(outcome, 'outcome') } }
  } catch (error) {
    const damage = damageIn(error)
    const head = salvagedHead(row, damage, whenUnreadable)
    const kept = { request: orElse(() => textIn(request, 'request'), ''), state: '' }
    return { record: { ...head, ...kept, outcome: outcomeText({ error: damage }) }, damage }
  }
}

/** The columns of a text for `excerptOf`, as SQL: its bytes, and the text unless it has more than a parameter says. */
export function excerptColumns(text: string): string {
  return `octet_length(${text}), CASE WHEN octet_length(${text}) <= CAST(? AS bigint) THEN ${text} END`
}

/** The excerpt in a row with the columns of `HEAD`, the bytes of a text, and the text unless it is longer. A row that cannot be read gives a task that failed. */
export function excerptOf(row: Row, name: TaskText, most: number): TaskExcerpt {
  const [size, value] = row.slice(NAMES.length)
  const bytes = Number(size ?? 0)
  try {
    const head = readHead(row)
    return { head, text: value === null && bytes > most ? undefined : textIn(value, name), bytes }
  } catch (error) {
    const damage = damageIn(error)
    const text = name === 'outcome' ? outcomeText({ error: damage }) : ''
    return { head: salvagedHead(row, damage), text, bytes: text.length }
  }
}

/** The texts of a task that a change names. */
export function changedTexts(change: TaskChange): readonly (readonly [name: TaskText, text: string])[] {
  return TEXTS.flatMap((name) => {
    const text = change[name]
    return text === undefined ? [] : [[name, text] as const]
  })
}

const TEXTS = ['request', 'state', 'outcome'] as const satisfies readonly TaskText[]

/** The id of a task whose own cannot be read, and the time of its creation. */
interface Lost {
  readonly id: string
  readonly now: number
}

const NOTHING: Lost = { id: 'damaged', now: 0 }

/** Throws if a column cannot be read. */
function readHead(row: Row): TaskHead {
  return {
    id: textIn(row[0], 'id'),
    server: textIn(row[1], 'server'),
    owner: textIn(row[2], 'owner'),
    scope: textIn(row[3], 'scope'),
    tool: textIn(row[4], 'tool'),
    key: textIn(row[5], 'key'),
    status: statusIn(row[6]),
    statusMessage: textIn(row[7], 'statusMessage'),
    isError: numberIn(row[8], 'isError') === 1,
    createdAt: timeIn(row[9], 'createdAt'),
    updatedAt: timeIn(row[10], 'updatedAt'),
    ttlMs: row[11] === null ? null : numberIn(row[11], 'ttlMs'),
    pollMs: numberIn(row[12], 'pollMs'),
    attempt: numberIn(row[13], 'attempt'),
    dueAt: numberIn(row[14], 'dueAt'),
    node: textIn(row[15], 'node'),
    version: numberIn(row[16], 'version'),
    network: textIn(row[17], 'network'),
    isShared: numberIn(row[18], 'isShared') === 1,
    same: textIn(row[19], 'same'),
  }
}

/** What can be read of a damaged head, as that of a task that failed. */
function salvagedHead(row: Row, damage: McpError, { id, now }: Lost = NOTHING): TaskHead {
  const text = (at: number, otherwise = ''): string => orElse(() => textIn(row[at], ''), otherwise)
  const number = <Other>(at: number, otherwise: Other): number | Other =>
    orElse(() => numberIn(row[at], ''), otherwise)
  return {
    id: text(0, id),
    server: text(1),
    owner: text(2),
    scope: text(3),
    tool: text(4),
    key: '',
    status: 'failed',
    statusMessage: damage.message,
    isError: false,
    createdAt: orElse(() => timeIn(row[9], ''), now),
    updatedAt: orElse(() => timeIn(row[10], ''), now),
    ttlMs: number(11, null),
    pollMs: number(12, 1000),
    attempt: number(13, 1),
    dueAt: 0,
    node: '',
    version: number(16, 1),
    network: text(17),
    isShared: false,
    same: '',
  }
}

function textIn(value: unknown, part: string): string {
  if (typeof value !== 'string') throw mcpError(TASK_DAMAGED, { part })
  return originalText(value)
}

function numberIn(value: unknown, part: string): number {
  if (typeof value !== 'number' || Number.isNaN(value)) throw mcpError(TASK_DAMAGED, { part })
  return value
}

/** The last time that a `Date` can have. */
const LAST_TIME = 8.64e15

function timeIn(value: unknown, part: string): number {
  const time = numberIn(value, part)
  if (!(Math.abs(time) <= LAST_TIME)) throw mcpError(TASK_DAMAGED, { part })
  return time
}

function statusIn(value: unknown): TaskStatus {
  if (!isTaskStatus(value)) throw mcpError(TASK_DAMAGED, { part: 'status' })
  return value
}

/** The error that a part is damaged; that of a text which is not stored as it should be names no part. */
function damageIn(error: unknown): McpError {
  return error instanceof McpError ? error : mcpError(TASK_DAMAGED, { part: 'text' })
}

function orElse<Value, Other>(read: () => Value, otherwise: Other): Value | Other {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function stored(value: string | number | boolean | null): Value {
  if (typeof value === 'string') return storedText(value)
  return typeof value === 'boolean' ? Number(value) : value
}
