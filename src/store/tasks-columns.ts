import type { TaskHead, TaskRecord, TaskStatus } from '../tasks/record.ts'
import type { TaskChange } from '../tasks/store.ts'
import type { Row, Value } from './sqlite-engine.ts'
import { originalText, storedText } from './sqlite-text.ts'

/** The columns of heads, by the names of their members. */
const COLUMNS = {
  id: 'id',
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
} as const satisfies Readonly<Record<keyof TaskHead, string>>

const NAMES = Object.keys(COLUMNS) as readonly (keyof TaskHead)[]

/** The columns of a head, for queries. */
export const HEAD: string = Object.values(COLUMNS).join(', ')

/** Adds a task: the values of its head, then when it expires. */
export const INSERT_HEAD: string = `INSERT INTO pierhead_tasks (${HEAD}, expires_at) VALUES (${'?, '.repeat(NAMES.length)}?) RETURNING seq`

/** The values of a head, in the order of `HEAD`. */
export function valuesOf(head: TaskHead): readonly Value[] {
  return NAMES.map((name) => stored(head[name]))
}

/** The assignments of a change, and their values. Only columns that change are named, so that other indexes stay untouched. */
export function assignments(change: TaskChange): readonly [sql: string, values: readonly Value[]] {
  const named = NAMES.flatMap((name) => {
    const value = (change as Partial<TaskHead>)[name]
    return value === undefined ? [] : [[COLUMNS[name], stored(value)] as const]
  })
  const sets = named.map(([column]) => `${column} = ?`)
  const values = named.map(([, value]) => value)
  if (change.ttlMs !== undefined) {
    sets.push('expires_at = created_at + ?')
    values.push(change.ttlMs)
  }
  return [['version = version + 1', ...sets].join(', '), values]
}

/** The head in a row. */
export function headOf(row: Row): TaskHead {
  const text = (name: keyof TaskHead): string => originalText(String(row[COLUMNS[name]]))
  const number = (name: keyof TaskHead): number => Number(row[COLUMNS[name]])
  return {
    id: text('id'),
    owner: text('owner'),
    scope: text('scope'),
    tool: text('tool'),
    key: text('key'),
    status: text('status') as TaskStatus,
    statusMessage: text('statusMessage'),
    isError: number('isError') === 1,
    createdAt: number('createdAt'),
    updatedAt: number('updatedAt'),
    ttlMs: row['ttl_ms'] === null ? null : number('ttlMs'),
    pollMs: number('pollMs'),
    attempt: number('attempt'),
    dueAt: number('dueAt'),
    node: text('node'),
    version: number('version'),
  }
}

/** The record in a row that has the texts too. */
export function recordOf(row: Row): TaskRecord {
  const text = (name: 'request' | 'state' | 'outcome'): string => originalText(String(row[name]))
  return { ...headOf(row), request: text('request'), state: text('state'), outcome: text('outcome') }
}

function stored(value: string | number | boolean | null): Value {
  if (typeof value === 'string') return storedText(value)
  return typeof value === 'boolean' ? Number(value) : value
}
