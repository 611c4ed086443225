import { type McpError, mcpError } from '../errors/error.ts'
import { TASK_DAMAGED } from '../errors/tasks.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import { AttemptState } from './attempt-state.ts'
import { parsed } from './damage.ts'
import type { TaskRecord, TaskRequest } from './record.ts'

/** A claimed record with its parsed texts, which may be long: they are parsed once for all that need them. */
export interface Claimed {
  readonly record: TaskRecord
  readonly request: TaskRequest
  readonly shared: AttemptState
}

/** Reads a claimed record. Answers an error if it cannot be used. Stores never claim final tasks, so one is a damaged one. */
export function readClaimed(record: TaskRecord): Claimed | { readonly damage: McpError } {
  if (isFinal(record.status)) return { damage: mcpError(TASK_DAMAGED, { part: 'record' }) }
  const request = parsed(record.request)
  if (request === undefined || !isObject(request['params']))
    return { damage: mcpError(TASK_DAMAGED, { part: 'request' }) }
  try {
    return { record, request: request as unknown as TaskRequest, shared: AttemptState.of(record.state) }
  } catch (error) {
    return { damage: error as McpError }
  }
}
