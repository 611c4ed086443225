import type { McpError } from '../errors/error.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { TaskClock } from './clock.ts'
import type { TaskCaller, TaskPlan } from './plan.ts'
import type { TaskHead, TaskRequest } from './record.ts'
import type { Run } from './run.ts'
import type { TaskStore } from './store.ts'

/** The server, as its tasks see it. */
export interface TaskHost {
  readonly limits: Limits
  /** The name of the server, which its tasks have too. */
  readonly server: string
  /** The names of its tools. */
  tools(): Iterable<string>
  /** The option `task` of a tool; undefined if there is no such tool. */
  planOf(tool: string): TaskPlan | undefined
  /** Runs a further attempt: the request passes through providers and middleware again. */
  attempt(run: Run, request: TaskRequest): Result | Promise<Result>
  /** Turns anything thrown into an error for the client. */
  toError(thrown: unknown, run: Run): McpError
  /** The result with which such an error would end a direct call; undefined if the error itself would. */
  toResult?(error: McpError, run: Run): Result | undefined
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
}

export interface TasksOptions {
  readonly store: TaskStore
  /** Whether the store keeps its tasks in the memory of this process. */
  readonly isInMemory: boolean
  readonly clock?: TaskClock
  readonly random?: () => number
}

/** A new task. */
export interface TaskDraft {
  readonly caller: TaskCaller
  readonly key: string
  /** How long the client wants it to be kept; undefined if it does not say, null for as long as possible. */
  readonly ttlMs: number | null | undefined
  readonly request: TaskRequest
  /** The values that the attempt keeps while it runs, such as the checked arguments. Their memory counts. */
  readonly keeps?: readonly unknown[]
}

/** What became of a call that should become a task. */
export type Begun =
  | { readonly outcome: 'created'; readonly head: TaskHead }
  | { readonly outcome: 'exists'; readonly head: TaskHead }
  | { readonly outcome: 'rejected'; readonly error: McpError }
