import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Peer } from '../rpc/call.ts'
import type { TaskHead } from '../tasks/record.ts'

/** A task as clients see it, in the form of the newest revision. */
export function toTask(head: TaskHead, { dialect }: Pick<Peer, 'dialect'>, resultType?: 'task'): JsonObject {
  const { id, status, statusMessage, isError, createdAt, updatedAt, ttlMs, pollMs } = head
  return {
    ...(resultType === undefined ? {} : { resultType }),
    taskId: id,
    status: isError ? (dialect.revision < '2026-07-28' ? 'failed' : 'completed') : status,
    ...(statusMessage === '' ? {} : { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs: pollMs,
  }
}
