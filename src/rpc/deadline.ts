import { LONGEST_MS } from '../base/duration.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CANCELLED, TIMEOUT } from '../errors/rpc.ts'
import type { CancelSignal, CancelListener } from './client-transport.ts'

export interface DeadlineOptions {
  readonly method: string
  /** Silence that ends a request; `Infinity` for requests that last. */
  readonly idleMs: number
  /** The longest that a request may take, however lively. */
  readonly totalMs: number
  /** The caller's own wish to stop. */
  readonly signal: AbortSignal | undefined
}

type Timer = ReturnType<typeof setTimeout>

/** The time that one request has, which begins at once: it aborts when the time is up or the caller stops waiting. */
export class Deadline implements CancelSignal {
  readonly #options: DeadlineOptions
  readonly #begun = performance.now()
  #idle: Timer | undefined
  #total: Timer | undefined
  #reason: McpError | undefined
  #listener: CancelListener | undefined
  #controller: AbortController | undefined

  constructor(options: DeadlineOptions) {
    const { idleMs, totalMs, signal } = options
    this.#options = options
    // Until something is heard, the shorter of two times that begin together is enough.
    if (totalMs < idleMs) this.#total = this.#after(totalMs, totalMs)
    else this.#idle = this.#after(idleMs, idleMs)
    if (signal?.aborted === true) this.handleEvent()
    else signal?.addEventListener('abort', this, { once: true })
  }

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  get reason(): McpError | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** When it began, as `performance.now()` counts. */
  get begun(): number {
    return this.#begun
  }

  /** What is left of the longest time that the request may take. */
  get left(): number {
    return this.#options.totalMs - (performance.now() - this.#begun)
  }

  /** Whether there is time to be silent for so long. */
  allows(ms: number): boolean {
    return ms < Math.min(this.#options.idleMs, this.left)
  }

  onCancel(listener: CancelListener | undefined): void {
    this.#listener = listener
  }

  /** Something was heard: the silence begins anew. */
  touch(): void {
    const { idleMs, totalMs } = this.#options
    if (!Number.isFinite(idleMs) || this.#reason !== undefined) return
    this.#total ??= this.#after(Math.max(0, this.left), totalMs)
    clearTimeout(this.#idle)
    this.#idle = this.#after(idleMs, idleMs)
  }

  /** Frees what it holds. */
  end(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#total)
    this.#options.signal?.removeEventListener('abort', this)
  }

  /** The caller stops waiting. */
  handleEvent(): void {
    const why: unknown = this.#options.signal?.reason
    this.#abort(why instanceof McpError ? why : mcpError(CANCELLED, { reason: '' }, { cause: why }))
  }

  /** A time that is too long for a timer never comes. */
  #after(wait: number, ms: number): Timer | undefined {
    if (wait > LONGEST_MS) return undefined
    return setTimeout(() => this.#abort(mcpError(TIMEOUT, { method: this.#options.method, ms })), wait)
  }

  #abort(why: McpError): void {
    if (this.#reason !== undefined) return
    this.#reason = why
    this.#controller?.abort(why)
    this.#listener?.cancelled()
  }
}
