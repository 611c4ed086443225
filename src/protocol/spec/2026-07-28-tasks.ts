import type { ErrorObject, JsonObject } from '../jsonrpc.ts'
import type { EmptyResult, NotificationParams, RequestParams } from './2026-07-28.ts'

/* The official extension io.modelcontextprotocol/tasks, which belongs to this revision. */

/** A task, with what goes with its status. */
export interface DetailedTask {
  readonly taskId: string
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage?: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** In milliseconds; null means unlimited. */
  readonly ttlMs: number | null
  readonly pollIntervalMs?: number
  /** Of a task that needs input: questions by key. */
  readonly inputRequests?: Readonly<Record<string, { readonly method: string; readonly params?: JsonObject }>>
  /** Of a completed task: the result of its request. */
  readonly result?: JsonObject
  /** Of a failed task: the error of its request. */
  readonly error?: ErrorObject
}

export interface TaskRequestParams extends RequestParams {
  readonly taskId: string
}

export interface UpdateTaskRequestParams extends TaskRequestParams {
  /** Answers by the key of their question. */
  readonly inputResponses: JsonObject
}

export interface TaskResult extends EmptyResult, DetailedTask {}

export interface TaskNotificationParams extends NotificationParams, DetailedTask {}
