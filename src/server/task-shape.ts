import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Peer } from '../rpc/call.ts'
import { isoTime } from '../base/iso-time.ts'
import type { TaskHead } from '../tasks/record.ts'

/** A task as clients see it, in the form of the newest revision. */
export function toTask(head: TaskHead, { dialect }: Pick<Peer, 'dialect'>, resultType?: 'task'): JsonObject {
  const { id, status, statusMessage, isError, createdAt, updatedAt, ttlMs, pollMs } = head
  // Members that are undefined are not sent. Objects of one shape are much faster.
  return {
    resultType,
    taskId: id,
    status: isError ? (dialect.revision < '2026-07-28' ? 'failed' : 'completed') : status,
    statusMessage: statusMessage === '' ? undefined : statusMessage,
    createdAt: isoTime(createdAt),
    lastUpdatedAt: isoTime(updatedAt),
    ttlMs,
    pollIntervalMs: pollMs,
  }
}
