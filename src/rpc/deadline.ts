import { LONGEST_MS } from '../base/duration.ts'
import { onAbort } from '../base/on-abort.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CANCELLED, TIMEOUT } from '../errors/rpc.ts'
import type { CancelSignal, CancelListener } from './client-transport.ts'
import { Clock, type Timed } from './clock.ts'

export interface DeadlineOptions {
  readonly method: string
  /** The request times out after this much silence; `Infinity` for long-lived requests. */
  readonly idleMs: number
  /** The longest a request may take, even if messages keep arriving for it. */
  readonly totalMs: number
  /** Measures the time of `totalMs`, if the request is a part of something longer; by default it begins now. */
  readonly clock?: Clock | undefined
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined
}

type Timer = ReturnType<typeof setTimeout>

/** Starts the timeouts of one request, and aborts when one expires or the caller stops waiting. */
export class Deadline implements CancelSignal, Timed {
  readonly #options: DeadlineOptions
  /** Measures how long the request takes. While it is paused, there are no timeouts; then the idle timeout starts anew. */
  readonly clock: Clock
  #idle: Timer | undefined
  #total: Timer | undefined
  #reason: Error | undefined
  #listener: CancelListener | undefined
  #controller: AbortController | undefined
  #removeListener: (() => void) | undefined

  constructor(options: DeadlineOptions) {
    const { signal, clock } = options
    this.#options = options
    this.clock = clock ?? new Clock()
    this.start()
    this.clock.join(this)
    if (signal !== undefined) this.#removeListener = onAbort(signal, () => this.#cancel(signal.reason))
  }

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  get reason(): Error | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** How much of `totalMs` remains. */
  get left(): number {
    return this.#options.totalMs - this.clock.elapsed
  }

  /** Whether the request may stay silent for this long. */
  allows(ms: number): boolean {
    return ms < Math.min(this.#options.idleMs, this.left)
  }

  onCancel(listener: CancelListener | undefined): void {
    this.#listener = listener
  }

  /** Restarts the idle timeout because something arrived. */
  touch(): void {
    const { idleMs, totalMs } = this.#options
    if (!Number.isFinite(idleMs) || this.#reason !== undefined || this.clock.stoppedAt !== undefined) return
    this.#total ??= this.#after(this.left, totalMs)
    clearTimeout(this.#idle)
    this.#idle = this.#after(idleMs, idleMs)
  }

  /** Clears the timers and removes the listener. */
  end(): void {
    this.stop()
    this.clock.leave(this)
    this.#removeListener?.()
  }

  /** The caller stops waiting. */
  #cancel(why: unknown): void {
    this.abort(why instanceof McpError ? why : mcpError(CANCELLED, { reason: '' }, { cause: why }))
  }

  /** Until something arrives, only the timeout that expires first needs a timer. */
  start(): void {
    const { idleMs, totalMs } = this.#options
    const { left } = this
    if (this.#reason !== undefined) return
    if (left < idleMs) this.#total = this.#after(left, totalMs)
    else this.#idle = this.#after(idleMs, idleMs)
  }

  stop(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#total)
    this.#total = undefined
  }

  /** Starts a timeout; one too long for a timer never fires. */
  #after(wait: number, ms: number): Timer | undefined {
    if (wait > LONGEST_MS) return undefined
    return setTimeout(
      () => {
        const error = mcpError(TIMEOUT, { method: this.#options.method, ms })
        const { explain = this.clock.awaited?.explain } = this.clock
        this.abort(explain?.(error) ?? error)
      },
      Math.max(0, wait),
    )
  }

  /** Aborts with a reason. Only the first counts. */
  abort(why: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = why
    this.#controller?.abort(why)
    this.#listener?.cancelled()
  }
}
