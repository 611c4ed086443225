import type { McpError } from '../errors/error.ts'
import type { Limits } from '../protocol/limits.ts'
import { mask, type Masking } from '../rpc/mask.ts'
import type { ServerService } from '../server/service.ts'
import type { ServerUse } from '../transport/io/server-use.ts'
import { within } from '../transport/io/timer.ts'
import { Membership } from './membership.ts'
import type { ServerOptions } from './options.ts'
import type { StoresInUse } from './stores-in-use.ts'

/** Runs `onStart` before the first use of a server (a listener, its mounts, a client in the process), `onStop` after the last has ended. */
export class Hooks {
  readonly #options: Pick<ServerOptions, 'onStart' | 'onStop'>
  readonly #service: Masking
  readonly #drainMs: number
  /** The part that the server takes in the nodes that share its store. */
  readonly membership: Membership
  #uses = 0
  #started: Promise<void> | undefined
  #stopped: Promise<void> = Promise.resolve()
  /** The error for requests that wait for the current start, so that they share one reference. */
  #failure: McpError | undefined

  constructor(options: ServerOptions, service: ServerService, limits: Limits, stores: StoresInUse) {
    this.#options = options
    this.#service = service
    this.#drainMs = limits.drainMs
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

  /** Ends a use. Resolves once the server has stopped, if that was the last one. */
  leave(): Promise<void> {
    this.#uses--
    if (this.#uses === 0) {
      this.#started = undefined
      this.#stopped = this.#stop()
    }
    return this.#stopped
  }

  /** A use that begins with its first request; undefined if there is nothing to run. */
  newUse(): ServerUse | undefined {
    const { onStart, onStop } = this.#options
    if (onStart === undefined && onStop === undefined) return undefined
    let entered: Promise<void> | undefined
    return {
      start: () => {
        entered ??= this.enter().catch((error: unknown) => {
          entered = undefined
          throw (this.#failure ??= mask(this.#service, error, { what: 'onStart', call: undefined }))
        })
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

  async #stop(): Promise<void> {
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
}
