import { Deferred } from '../base/deferred.ts'
import { LONGEST_MS } from '../base/duration.ts'
import { lazy } from '../base/lazy.ts'
import { soon } from '../base/soon.ts'
import { mcpError } from '../errors/error.ts'
import { CANCELLED } from '../errors/rpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Handler, Result } from '../rpc/dispatch.ts'
import type { TasksOptions } from '../tasks/host.ts'
import { callOf, type Context } from './context.ts'
import type { TaskModule, TaskService } from './task-host.ts'
import type { TaskHook } from './tools.ts'

/** Where the tasks of a server are kept. */
export interface TaskStoreOptions {
  readonly limits: Limits
  /** Opens the store of tasks, when the first is needed. */
  openTasks(): TasksOptions | Promise<TasksOptions>
  /** Whether that store may have tasks of another process. */
  keepsTasks(): boolean
}

/** The tasks of a server, whose code is loaded with the first request that needs them. */
export class LateTasks {
  /** Loads them. */
  readonly load: () => TaskModule | Promise<TaskModule>
  /** Answers calls that may become tasks. */
  readonly hook: TaskHook = (ways) => {
    const call = callOf(ways.context)
    if (ways.tool.task === undefined && call.asTask === undefined && call.params['task'] === undefined)
      return ways.now()
    return soon(this.load(), ({ callAsTask, tasks }) => {
      // The request may have been cancelled while the code was loaded.
      if (call.aborted) throw mcpError(CANCELLED, { reason: '' })
      return callAsTask(tasks, ways)
    })
  }
  readonly #service: TaskService
  readonly #options: TaskStoreOptions
  #opened: Promise<TaskModule> | undefined
  /** The close that is under way, and its end. */
  #closing: Promise<() => Promise<void>> | undefined
  #closed: Deferred<void> | undefined
  /** Whether they should run: no close came after the latest start. */
  #isWanted = false

  constructor(service: TaskService, options: TaskStoreOptions) {
    this.#service = service
    this.#options = options
    this.load = lazy(() => (this.#opened = this.#open()))
    service.leases.watch((concerns, facts) => {
      // Another node has cancelled what it has revoked; here, nothing runs before the first use.
      if (this.#opened === undefined && (facts.where !== 'here' || !options.keepsTasks())) return undefined
      return soon(this.load(), ({ revoked }) => revoked.cancel(concerns, facts))
    })
  }

  /** Whether anything needed them so far. */
  get isLoaded(): boolean {
    return this.#opened !== undefined
  }

  /** A handler that needs them. */
  handler(handle: (module: TaskModule, context: Context) => Result | Promise<Result>): Handler<Context> {
    return (context) => soon(this.load(), (module) => handle(module, context))
  }

  /** Opens the store, if the server has tasks. Answers what identifies it, if anything does. Throws if it cannot be used. */
  async open(): Promise<string | undefined> {
    if (!this.#options.keepsTasks() || !this.#service.offers('tasks')) return undefined
    const { tasks } = await this.load()
    return tasks.store.open?.()
  }

  /** Continues tasks after a start of the server: those that a store has, or those before the latest close. */
  start(): void {
    this.#isWanted = true
    if (!this.#options.keepsTasks() && this.#opened === undefined) return
    const failed = (error: unknown): void => this.#service.report('error', 'the task store failed', { error })
    void this.#start().catch(failed)
  }

  /**
   * Ends what waits for tasks. Returns a function that waits for tasks until some time, as `performance.now` shows it, then gives up the others.
   * All who close meanwhile share it.
   */
  beginClose(until: number): Promise<() => Promise<void>> {
    this.#isWanted = false
    return (this.#closing ??= this.#beginClose(until))
  }

  async #beginClose(until: number): Promise<() => Promise<void>> {
    const { resolve } = (this.#closed = new Deferred())
    // A program may revoke a caller and end at once.
    const { leases } = this.#service
    const late = new Deferred<void>()
    const timer = setTimeout(
      () => late.resolve(),
      Math.min(LONGEST_MS, Math.max(0, until - performance.now())),
    )
    await Promise.race([leases.settled(), late.promise])
    clearTimeout(timer)
    const opened = await this.#opened?.catch(() => undefined)
    opened?.tasks.endWaits()
    const close = async (): Promise<void> => {
      try {
        opened?.revoked.hurry()
        await opened?.tasks.close(Math.max(0, until - performance.now()))
      } finally {
        this.#closing = undefined
        resolve()
      }
    }
    let closed: Promise<void> | undefined
    return () => (closed ??= close())
  }

  async #start(): Promise<void> {
    const { tasks } = await this.load()
    // What is given up by a close that is still under way can only be continued after it.
    await this.#closed?.promise
    if (this.#isWanted) await tasks.start()
  }

  async #open(): Promise<TaskModule> {
    const { createTasks } = await import('./task-host.ts')
    return createTasks(this.#service, this.#options.limits, await this.#options.openTasks())
  }
}
