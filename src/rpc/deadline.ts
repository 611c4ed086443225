import { LONGEST_MS } from '../base/duration.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CANCELLED, TIMEOUT } from '../errors/rpc.ts'
import type { CancelSignal, CancelListener } from './client-transport.ts'

export interface DeadlineOptions {
  readonly method: string
  /** The request times out after this much silence; `Infinity` for long-lived requests. */
  readonly idleMs: number
  /** The longest a request may take, even if messages keep arriving for it. */
  readonly totalMs: number
  /** When the time of `totalMs` began, in `performance.now()` time; by default now. */
  readonly begun?: number | undefined
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined
}

type Timer = ReturnType<typeof setTimeout>

/** Starts the timeouts of one request, and aborts when one expires or the caller stops waiting. */
export class Deadline implements CancelSignal {
  readonly #options: DeadlineOptions
  readonly #begun: number
  #idle: Timer | undefined
  #total: Timer | undefined
  #reason: Error | undefined
  #listener: CancelListener | undefined
  #controller: AbortController | undefined

  constructor(options: DeadlineOptions) {
    const { idleMs, totalMs, signal, begun } = options
    this.#options = options
    this.#begun = begun ?? performance.now()
    const left = begun === undefined ? totalMs : this.left
    // Until something arrives, only the timeout that expires first needs a timer.
    if (left < idleMs) this.#total = this.#after(left, totalMs)
    else this.#idle = this.#after(idleMs, idleMs)
    if (signal?.aborted === true) this.handleEvent()
    else signal?.addEventListener('abort', this, { once: true })
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

  /** When it started, in `performance.now()` time. */
  get begun(): number {
    return this.#begun
  }

  /** How much of `totalMs` remains. */
  get left(): number {
    return this.#options.totalMs - (performance.now() - this.#begun)
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
    if (!Number.isFinite(idleMs) || this.#reason !== undefined) return
    this.#total ??= this.#after(this.left, totalMs)
    clearTimeout(this.#idle)
    this.#idle = this.#after(idleMs, idleMs)
  }

  /** Clears the timers and removes the listener. */
  end(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#total)
    this.#options.signal?.removeEventListener('abort', this)
  }

  /** The caller stops waiting. */
  handleEvent(): void {
    const why: unknown = this.#options.signal?.reason
    this.abort(why instanceof McpError ? why : mcpError(CANCELLED, { reason: '' }, { cause: why }))
  }

  /** Starts a timeout; one too long for a timer never fires. */
  #after(wait: number, ms: number): Timer | undefined {
    if (wait > LONGEST_MS) return undefined
    return setTimeout(
      () => this.abort(mcpError(TIMEOUT, { method: this.#options.method, ms })),
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
