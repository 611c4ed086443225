import { orAborted } from '../../base/backoff.ts'
import type { AuthRequest } from '../../transport/http/client/auth-method.ts'
import type { Steps } from './steps.ts'

/** A request that waits. The same one may wait twice. */
interface Waiter {
  readonly request: Pick<AuthRequest, 'signal' | 'pause' | 'during'>
}

/** One question for credentials, on behalf of any number of requests. It is aborted when none of them waits any more. */
export class Flight<Value> {
  readonly #controller = new AbortController()
  readonly #cancelled = new AbortController()
  /** Those who wait, each with the function that starts its clock again. */
  readonly #waiters = new Map<Waiter, (() => void) | undefined>()
  readonly #result: Promise<Value>
  readonly #ended: () => void
  /** The steps that are taken, for the errors of those whose time is over. */
  steps: Pick<Steps, 'current'> | undefined
  #isPaused = false
  #isOver = false

  /** `ended` is called when nobody should join any more: after the result, or when the flight is aborted. */
  constructor(run: (flight: Flight<Value>) => Promise<Value>, ended: () => void) {
    this.#ended = ended
    this.#result = run(this).finally(() => {
      this.#isOver = true
      ended()
    })
    // It may end when nobody waits any more.
    this.#result.catch(() => undefined)
  }

  /** Aborts when nobody waits any more. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Aborts only when the flight is cancelled, so that even an answer that must not be lost is not waited for. */
  get cancelled(): AbortSignal {
    return this.#cancelled.signal
  }

  /** Stops the clocks of all who wait, and of those who come, until the function that it returns is called. */
  pause(): () => void {
    this.#isPaused = true
    for (const waiter of this.#waiters.keys()) this.#waiters.set(waiter, waiter.request.pause?.())
    return () => {
      this.#isPaused = false
      for (const [waiter, resume] of this.#waiters) {
        resume?.()
        this.#waiters.set(waiter, undefined)
      }
    }
  }

  /** Waits for the result until a signal aborts, by default that of the request. */
  async join(request: Waiter['request'], signal: AbortSignal = request.signal): Promise<Value> {
    const waiter: Waiter = { request }
    this.#waiters.set(waiter, this.#isPaused ? request.pause?.() : undefined)
    const end = request.during?.(() => this.steps?.current)
    try {
      return await orAborted(this.#result, signal)
    } finally {
      end?.()
      this.#waiters.get(waiter)?.()
      this.#waiters.delete(waiter)
      if (this.#waiters.size === 0 && !this.#isOver) this.#abort('nobody waits for the login any more')
    }
  }

  /** Ends the flight for all who wait. Resolves when nothing of it goes on any more. */
  async cancel(reason: string): Promise<void> {
    this.#abort(reason)
    this.#cancelled.abort(this.signal.reason)
    await this.#result.catch(() => undefined)
  }

  /** Stops what can be stopped without harm. */
  #abort(reason: string): void {
    this.#controller.abort(new DOMException(reason, 'AbortError'))
    this.#ended()
  }
}
