import type { TaskHead } from 'pierhead/stores'
import { Failure } from './failure.ts'
import { EXIT } from './exit.ts'
import { safeLine } from './safe-text.ts'
import { tableText } from './table-text.ts'

/** A task as commands show it, whether it comes from a server or from a store. */
export interface TaskRow {
  readonly id: string
  readonly status: string
  readonly tool?: string | undefined
  readonly owner?: string | undefined
  /** The key of the work; a task without one has none. */
  readonly key?: string | undefined
  /** The number of the attempt that runs, or that ended it. */
  readonly attempt?: number | undefined
  readonly message?: string | undefined
  readonly createdAt?: string | undefined
  readonly updatedAt?: string | undefined
}

/** A task of a store. */
export function storedRow({
  id,
  status,
  tool,
  owner,
  key,
  attempt,
  statusMessage,
  createdAt,
  updatedAt,
}: TaskHead): TaskRow {
  return {
    id,
    status,
    tool,
    ...(owner !== '' && { owner }),
    ...(key !== '' && { key }),
    attempt,
    ...(statusMessage !== '' && { message: statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}

/** A task in the words of a server, which may say anything. */
export function remoteRow(given: unknown): TaskRow {
  const task = (typeof given === 'object' && given !== null ? given : {}) as Readonly<Record<string, unknown>>
  const text = (name: string): string | undefined =>
    typeof task[name] === 'string' ? (task[name] as string) : undefined
  return {
    id: text('taskId') ?? '',
    status: text('status') ?? 'unknown',
    message: text('statusMessage'),
    createdAt: text('createdAt'),
    updatedAt: text('lastUpdatedAt'),
  }
}

export function rowsText(rows: readonly TaskRow[]): string {
  if (rows.length === 0) return 'There are no tasks.'
  const hasTools = rows.some(({ tool }) => tool !== undefined)
  return tableText([
    ['id', 'status', ...(hasTools ? ['tool'] : []), 'created', 'message'],
    ...rows.map(({ id, status, tool, createdAt, message }) => [
      safeLine(id, 100),
      safeLine(status, 20),
      ...(hasTools ? [safeLine(tool ?? '', 60)] : []),
      safeLine(createdAt ?? '-', 30),
      safeLine(message ?? '', 100),
    ]),
  ])
}

/** One task in several lines. */
export function rowText(row: TaskRow): string {
  const { id, status, tool, owner, key, attempt, message, createdAt, updatedAt } = row
  const times = { created: createdAt, changed: updatedAt }
  const rows = Object.entries({ id, status, tool, owner, key, attempt, message, ...times })
  return tableText(
    rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, safeLine(String(value), 1000)]])),
  )
}

/** The failure for an id that a store does not have. */
export function unknownTask(id: string): Failure {
  return new Failure(`there is no task ${id}`, {
    exit: EXIT.server,
    hint: 'pierhead tasks list shows the ids. Tasks are removed when their time is over; check --name too.',
  })
}
