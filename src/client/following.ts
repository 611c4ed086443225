import { onAbort } from '../base/on-abort.ts'
import { doubledMs, orAborted, pause, type BackoffTimes } from '../base/backoff.ts'
import { TASK_CANCELLED, TASK_EXPIRED, UNKNOWN_TASK } from '../errors/tasks.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Conversation } from './conversation.ts'
import type { TaskProgress, TaskReport } from './task-handle.ts'
import { badTask, LOST, lifeOf, readMessage, readPoll, readReport, SOONEST_MS } from './task-report.ts'

/** How a task ended. */
export type Outcome = { readonly result: JsonObject } | { readonly error: Error }

/** Delays before a request is sent again after the connection failed. */
const AGAIN: BackoffTimes = { firstMs: 100, maxMs: 5000 }
const BAD_PARAMS = -32602
const NOTICES: ReadonlySet<string> = new Set(['notifications/tasks', 'notifications/tasks/status'])

/** Follows one task of a server while somebody waits for it. */
export abstract class Following {
  readonly id: string
  protected readonly conversation: Conversation
  readonly #options: RequestOptions
  #report: TaskReport
  #pollMs: number
  /** When the task will be over at the latest; `Infinity` if nobody knows. */
  #expiresAt: number
  /** When the server was last asked. */
  #askedAt = performance.now()
  #last: TaskProgress | undefined
  readonly #readers = new Set<(progress: TaskProgress) => void>()
  #waiting = 0
  #outcome: Promise<Outcome> | undefined
  #stop = new AbortController()
  /** Whether there is news that the next poll will bring. */
  #isDue = false
  #wake: () => void = () => undefined
  /** The task at its end, if the server reported it before the next poll. */
  #ended: JsonObject | undefined
  /** The outcome, if it is known before the next poll. */
  protected early: Outcome | undefined

  /** `created` is the task as the server described it, and `options` are those of the call. */
  constructor(conversation: Conversation, id: string, created: JsonObject, options: RequestOptions) {
    this.conversation = conversation
    this.id = id
    this.#options = options
    this.#report = readReport(created, 'tools/call', id)
    this.#pollMs = readPoll(created)
    this.#expiresAt = performance.now() + lifeOf(this.#report)
    if (this.hasOutcome(created)) this.#ended = created
    this.#tell(created)
  }

  /** Whether a task has ended, and says how, as in the answer to a poll. */
  protected hasOutcome(_task: JsonObject): boolean {
    return false
  }

  /** Called after each poll. Returns the outcome, if there is one. */
  protected abstract step(
    task: JsonObject,
    report: TaskReport,
    signal: AbortSignal,
  ): Promise<Outcome | undefined>

  /** Called when waiting begins. */
  protected abstract begin(signal: AbortSignal): void

  /** The longest pause between polls at the moment. */
  protected pollMs(usual: number): number {
    return usual
  }

  /** Waits for the outcome, until the signal aborts. Rejects if the task cannot be followed. */
  async wait(signal: AbortSignal): Promise<Outcome> {
    this.#waiting++
    try {
      return await orAborted((this.#outcome ??= this.#follow()), signal)
    } catch (error) {
      throw markReceived(error)
    } finally {
      if (--this.#waiting === 0) {
        this.#stop.abort()
        if (this.early === undefined) this.#outcome = undefined
      }
    }
  }

  /** Calls the listener with the latest progress and each further one. Returns a function that removes it. */
  onProgress(listener: (progress: TaskProgress) => void): () => void {
    this.#readers.add(listener)
    if (this.#last !== undefined) listener(this.#last)
    return () => void this.#readers.delete(listener)
  }

  /** Asks how the task is, unless it has ended. */
  async report(signal: AbortSignal): Promise<TaskReport> {
    if (!isFinal(this.#report.status)) await this.#poll(signal)
    return this.#report
  }

  /** Asks the server to stop the task, unless it has ended. */
  async cancel(signal: AbortSignal, idleMs?: number): Promise<void> {
    if (isFinal(this.#report.status)) return
    try {
      await this.ask('tasks/cancel', {}, signal, idleMs)
    } catch (error) {
      // At 2025-11-25 a task that has ended cannot be cancelled.
      if ((error as McpError).code !== BAD_PARAMS || !isFinal((await this.report(signal)).status)) throw error
    }
  }

  /** Sends a request about the task, again and again while the connection fails, until the server has been silent for too long. */
  protected async ask(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    idleMs: number | undefined = this.#options.idleMs,
  ): Promise<JsonObject> {
    const { connection } = this.conversation
    const { headers, auth } = this.#options
    const silence = connection.deadline(method, { idleMs, totalMs: Infinity, signal })
    const options: RequestOptions = {
      headers,
      auth,
      idleMs: Infinity,
      totalMs: Infinity,
      signal: silence.signal,
      repeatable: true,
      undeclared: true,
    }
    let failure: unknown
    try {
      for (let nth = 0; ; nth++) {
        try {
          return await connection.request(method, { taskId: this.id, ...params }, options)
        } catch (error) {
          if (signal.aborted) throw signal.reason
          if (silence.aborted) throw failure ?? error
          if (!isTemporary(error, method)) throw error
          failure = error
          await pause(doubledMs(nth, AGAIN), silence.signal)
        }
      }
    } finally {
      silence.end()
    }
  }

  protected cancelled(): Outcome {
    const { message } = this.#report
    return { error: mcpError(TASK_CANCELLED, {}, { data: message === undefined ? message : { message } }) }
  }

  /** Polls without waiting any longer, or takes the early outcome. */
  protected wake(): void {
    this.#isDue = true
    this.#wake()
  }

  /** Reports progress. Numbers only grow, and texts of the status, which are older, never follow them. */
  protected tell(progress: TaskProgress): void {
    const last = this.#last?.progress
    if (last !== undefined && !(progress.progress !== undefined && progress.progress > last)) return
    this.#last = progress
    for (const reader of this.#readers) reader(progress)
  }

  #tell(task: JsonObject): void {
    const message = readMessage(task)
    if (message !== undefined && message !== this.#last?.message) this.tell({ message })
  }

  async #follow(): Promise<Outcome> {
    const { connection, events } = this.conversation
    const stop = (this.#stop = new AbortController())
    const { signal } = stop
    const remove = onAbort(connection.closing, () => stop.abort(connection.closing.reason))
    const off = events.on('notification', ({ method, params }) => {
      if (NOTICES.has(method) && params['taskId'] === this.id) this.#notice(params)
    })
    try {
      if (this.#ended === undefined) this.begin(signal)
      return await this.#untilEnd(signal)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    } finally {
      if (this.#stop === stop && this.early === undefined) this.#outcome = undefined
      off()
      remove()
      stop.abort()
    }
  }

  async #untilEnd(signal: AbortSignal): Promise<Outcome> {
    let isNew = this.#report.status === 'working'
    for (;;) {
      if (isNew && this.#ended === undefined) await this.#pause(signal)
      isNew = true
      signal.throwIfAborted()
      if (this.early !== undefined) {
        // The message of the end, for those who read messages.
        if (this.#readers.size > 0) await this.#poll(signal).catch(() => undefined)
        return this.early
      }
      const task = this.#takeEnd() ?? (await this.#poll(signal))
      const outcome = await this.step(task, this.#report, signal)
      if (outcome === undefined) continue
      this.#ended = undefined
      return (this.early = outcome)
    }
  }

  #takeEnd(): JsonObject | undefined {
    const ended = this.#ended
    this.#ended = undefined
    // A poll that was under way may have found it working.
    if (ended !== undefined) this.#report = readReport(ended, 'notifications/tasks', this.id)
    return ended
  }

  /** Pauses until the next poll is due. */
  async #pause(signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    const left = this.#expiresAt - performance.now()
    const usual = this.pollMs(this.#pollMs)
    // Nobody reports that a task is over.
    const wait = left > 0 ? Math.min(usual, Math.max(SOONEST_MS, left)) : Math.min(usual, this.#pollMs)
    if (!this.#isDue) await pause(wait, signal, woken.signal)
    const soonest = this.#askedAt + SOONEST_MS - performance.now()
    if (this.early === undefined && soonest > 0) await pause(soonest, signal)
    this.#isDue = false
  }

  async #poll(signal: AbortSignal): Promise<JsonObject> {
    this.#askedAt = performance.now()
    const task = await this.ask('tasks/get', {}, signal).catch((error: unknown) => {
      if ((error as McpError).code !== BAD_PARAMS) throw error
      const isOver = performance.now() >= this.#expiresAt
      throw isOver
        ? mcpError(TASK_EXPIRED, {}, { cause: error })
        : mcpError(UNKNOWN_TASK, { id: this.id }, { cause: error })
    })
    this.#report = readReport(task, 'tasks/get', this.id)
    if (task['resultType'] !== undefined) throw badTask('tasks/get', 'it is another task')
    this.#pollMs = readPoll(task)
    this.#expiresAt = Math.min(this.#expiresAt, this.#askedAt + lifeOf(this.#report))
    this.#tell(task)
    return task
  }

  #notice(task: JsonObject): void {
    this.#tell(task)
    if (this.hasOutcome(task)) this.#ended = task
    if (task['status'] !== 'working') this.wake()
  }
}

function isTemporary(error: unknown, method: string): boolean {
  if (!(error instanceof McpError)) return false
  const { kind, data } = error
  if (LOST.has(kind)) return true
  // The error of `tasks/result` may be that of the task.
  return kind === 'http_failed'
    ? Number(data?.['status']) >= 500
    : error.retryable && method !== 'tasks/result'
}
