import type { McpError } from '../errors/error.ts'
import type { Limits } from '../protocol/limits.ts'
import { mask } from '../rpc/mask.ts'
import type { ServerService } from '../server/service.ts'
import type { ServerUse } from '../transport/io/server-use.ts'
import { within } from '../transport/io/timer.ts'
import { Membership } from './membership.ts'
import type { ServerOptions } from './options.ts'
import type { StoresInUse } from './stores-in-use.ts'

/**
 * Runs `onStart` before the first use of a server (a listener, its mounts, a client in the process), `onStop` after the last has ended. Tasks
 * run in between.
 */
export class Hooks {
  readonly #options: Pick<ServerOptions, 'onStart' | 'onStop'>
  readonly #service: ServerService
  readonly #drainMs: number
  /** The part that the server takes in the nodes that share its store. */
  readonly membership: Membership
  readonly #isServing: () => boolean
  #uses = 0
  #started: Promise<void> | undefined
  #stopped: Promise<void> = Promise.resolve()
  /** The error for requests that wait for the current start, so that they share one reference. */
  #failure: McpError | undefined

  /** `isServing` says whether a mount or a client in the process is open, which without hooks are no uses. */
  constructor(
    options: ServerOptions,
    service: ServerService,
    limits: Limits,
    { stores, isServing }: { readonly stores: StoresInUse; isServing(): boolean },
  ) {
    this.#options = options
    this.#service = service
    this.#drainMs = limits.drainMs
    this.#isServing = isServing
    this.membership = new Membership(stores, service, limits)
  }

  /** Begins a use, which may serve once this resolves. If `onStart` throws, this rejects with its error, and the next use tries again. */
  async enter(): Promise<void> {
    this.#uses++
    try {
      await (this.#started ??= this.#start())
    } catch (error) {
      this.#uses--
      throw error
    }
  }

  /** Ends a use. If that was the last one, resolves once the server has stopped; its tasks may go on until some time, as `performance.now` shows it. */
  leave(until: number = performance.now() + this.#drainMs): Promise<void> {
    this.#uses--
    if (this.#uses === 0) {
      this.#started = undefined
      this.#stopped = this.#stop(until)
    }
    return this.#stopped
  }

  /** Lets tasks run for a mount or a client in the process that has just been opened. With hooks, they begin with its first request. */
  serve(): void {
    if (!this.#hasAny) this.#service.tasks.start()
  }

  get #hasAny(): boolean {
    const { onStart, onStop } = this.#options
    return onStart !== undefined || onStop !== undefined
  }

  /** A use that begins with its first request; undefined if there is nothing to run. */
  newUse(): ServerUse | undefined {
    if (!this.#hasAny) return undefined
    let entered: Promise<void> | undefined
    return {
      start: () => {
        entered ??= this.enter().then(
          () => this.#service.tasks.start(),
          (error: unknown) => {
            entered = undefined
            throw (this.#failure ??= mask(this.#service, error, { what: 'onStart', call: undefined }))
          },
        )
        return entered
      },
      end: async () => {
        const last = entered
        entered = undefined
        if (last !== undefined) await last.then(() => this.leave()).catch(() => undefined)
        else await this.#stopped
      },
    }
  }

  async #start(): Promise<void> {
    await this.#stopped
    this.#failure = undefined
    try {
      await this.#options.onStart?.()
    } catch (error) {
      this.#started = undefined
      throw error
    }
  }

  async #stop(until: number): Promise<void> {
    if (this.#hasAny || !this.#isServing()) await this.#stopTasks(until)
    const { onStop } = this.#options
    if (onStop === undefined) return
    let isOver = false
    const run = async (): Promise<void> => {
      try {
        await onStop()
      } catch (error) {
        this.#service.report('error', 'onStop failed', { error })
      }
      isOver = true
    }
    await within(this.#drainMs, (done) => void run().then(done))
    if (isOver) return
    const message = `onStop did not finish within ${this.#drainMs} ms (limits.drainMs); closing goes on`
    this.#service.report('error', message)
  }

  async #stopTasks(until: number): Promise<void> {
    const close = await this.#service.tasks.beginClose(until)
    await close().catch((error: unknown) => this.#service.report('error', 'the task store failed', { error }))
  }
}
