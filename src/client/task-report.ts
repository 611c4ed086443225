import { clip } from '../base/clip.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isTaskStatus } from '../protocol/task-status.ts'
import type { TaskReport } from './task-handle.ts'

/** A poll is never sooner and never later than this, whatever the server says, and usually after this if it does not say. */
export const SOONEST_MS = 100
export const LATEST_MS = 30_000
const USUAL_MS = 1000
const MAX_ID = 1024
const MAX_MESSAGE = 4096

/** Errors of connections, after which the server may still have the task. */
export const LOST: ReadonlySet<unknown> = new Set([
  'connect_failed',
  'connection_closed',
  'session_lost',
  'stream_lost',
])

/** The id of a task. */
export function readId({ taskId }: JsonObject, method: string): string {
  if (typeof taskId === 'string' && taskId !== '' && taskId.length <= MAX_ID) return taskId
  throw badTask(method, `taskId is not a string of 1 to ${MAX_ID} characters`)
}

/** Reads a task in the form of either revision. */
export function readReport(task: JsonObject, method: string, id: string): TaskReport {
  const { status, createdAt, lastUpdatedAt, ttlMs = task['ttl'] } = task
  if (task['taskId'] !== id) throw badTask(method, 'it describes another task')
  if (!isTaskStatus(status)) {
    const shown = clip(untrustedText(status), 32)
    throw badTask(method, `the status "${shown}" of a task is unknown`)
  }
  return {
    status,
    message: readMessage(task),
    createdAt: timeOf(createdAt),
    updatedAt: timeOf(lastUpdatedAt),
    ttlMs: typeof ttlMs === 'number' || ttlMs === null ? ttlMs : undefined,
  }
}

/** The message of a status. It is a copy, because a part of a text keeps the whole text in memory. */
export function readMessage({ statusMessage }: JsonObject): string | undefined {
  if (typeof statusMessage !== 'string' || statusMessage === '') return undefined
  return JSON.parse(JSON.stringify(clip(statusMessage, MAX_MESSAGE))) as string
}

/** How many milliseconds a task has left at most, when it is reported; `Infinity` if the server did not say. Clocks may differ, so only times of the server are compared. */
export function lifeOf({ ttlMs, createdAt, updatedAt }: TaskReport): number {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return Infinity
  const age = Date.parse(updatedAt ?? '') - Date.parse(createdAt ?? '')
  return Math.max(0, ttlMs - (age > 0 ? age : 0))
}

/** How long to wait before the next poll. */
export function readPoll({ pollIntervalMs, pollInterval = pollIntervalMs }: JsonObject): number {
  return typeof pollInterval === 'number' ? Math.min(LATEST_MS, Math.max(SOONEST_MS, pollInterval)) : USUAL_MS
}

export function badTask(method: string, issue: string): McpError {
  return mcpError(BAD_ANSWER, { method, issue })
}

function timeOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= 64 ? value : undefined
}
