import { onAbort } from './on-abort.ts'

/**
 * A signal that aborts together with another one, or after some time with a `TimeoutError`. `AbortSignal.any([signal, AbortSignal.timeout(ms)])`
 * does not do that: on Node 20, the inner signal is collected as garbage if nothing else holds it, and never aborts.
 */
export class TimeLimit implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #remove: () => void

  constructor(outer: AbortSignal, ms: number) {
    const controller = this.#controller
    // The timer and the outer signal hold the controller, so that it stays as long as it can abort.
    this.#timer = setTimeout(() => {
      controller.abort(new DOMException(`it took longer than ${ms} ms`, 'TimeoutError'))
    }, ms)
    this.#remove = onAbort(outer, () => {
      clearTimeout(this.#timer)
      controller.abort(outer.reason)
    })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Ends the limit. The signal does not abort any more. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#remove()
  }
}
