import type { Duration } from '../base/duration.ts'
import { DURATION, SIGNAL, type KindsOf } from '../base/kinds.ts'
import type { TaskStatus } from '../protocol/task-status.ts'
import type { CallOptions } from './options.ts'

export type { TaskStatus } from '../protocol/task-status.ts'

/** A task as its server describes it. */
export interface TaskReport {
  /** `working`, `input_required` while it waits for answers, or how it ended. At 2025-11-25, a tool that failed makes it `failed`. */
  readonly status: TaskStatus
  /** What it does at the moment, or why it ended, in the words of the server; at most 4,096 characters. Undefined if the server does not say. */
  readonly message: string | undefined
  /** When it was created, in ISO 8601 as the server writes it. Undefined if it does not say. */
  readonly createdAt: string | undefined
  /** When it last changed, in ISO 8601 as the server writes it. Undefined if it does not say. */
  readonly updatedAt: string | undefined
  /** How long the server keeps it after its creation, in milliseconds; `null` for ever. Undefined if it does not say. */
  readonly ttlMs: number | null | undefined
}

/** How far a task has come: numbers, if the server sends any, or else only the message of its status. */
export interface TaskProgress {
  /** How much is done; undefined at 2026-07-28, where tasks have no numbers. */
  readonly progress?: number | undefined
  /** How much there is to do, in the same unit; undefined if the server does not know. */
  readonly total?: number | undefined
  /** A description of the current step, for people; at most 16,384 characters. Undefined if the server sent none. */
  readonly message?: string | undefined
}

/** Options of `client.start`: those of a call, which apply until the server has begun, and one for the task. */
export interface StartOptions extends CallOptions {
  /** How long the server should keep the task after its creation. Default: the server decides, as it always does at 2026-07-28. */
  readonly ttl?: Duration | undefined
}

/** Options that limit how long to wait for a task. */
export interface WaitOptions {
  /** The longest time to wait. The task goes on. Default: until it ends. */
  readonly total?: Duration | undefined
  /** Stops waiting. The task goes on. Default: nothing does. */
  readonly signal?: AbortSignal | undefined
}

export const WAIT_OPTIONS: KindsOf<WaitOptions> = { total: DURATION, signal: SIGNAL }

/**
 * A call that a server works on, from `client.start` or `client.resume`. Questions of the server are answered while `result` or
 * `progress` waits.
 *
 * @example
 * const task = await client.start('render', { film })
 * for await (const { message } of task.progress()) console.log(message)
 * const movie = await task.result()
 */
export interface TaskHandle<Output = unknown> {
  /** Names the task for `client.resume`. Undefined if the server has answered directly, so that there is no task. */
  readonly id: string | undefined
  /** Asks the server how the task is. Once the task has ended, its last report is returned. */
  status(options?: WaitOptions): Promise<TaskReport>
  /**
   * Waits until the task ends, and returns and throws what `client.call` does. A task that was cancelled throws an error of kind
   * `task_cancelled`; one that the server no longer knows, `unknown_task`.
   */
  result(options?: WaitOptions): Promise<Output>
  /** Asks the server to stop. Resolves when it has accepted that; the task may still end in another way. Does nothing once it has ended. */
  cancel(options?: WaitOptions): Promise<void>
  /** Yields the latest progress, then each further one, and ends when the task does, however it ended. If the loop is slow, it misses the oldest. */
  progress(): AsyncGenerator<TaskProgress, void, undefined>
}
