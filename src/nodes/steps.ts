import { delayOf, pause } from '../base/backoff.ts'
import { McpError } from '../errors/error.ts'

const RETRY = { firstMs: 20, maxMs: 2000 }

/** Takes steps with a store one after the other, in the background. A step that fails while the store is away is repeated, so it must be idempotent. */
export class Steps {
  readonly #queue: (() => unknown)[] = []
  readonly #onError: (error: unknown) => void
  #isOver = false
  /** Ends what waits. Like all that is rarely used it is created on first use, since a node may have steps for each session. */
  #stop: AbortController | undefined
  #isRunning = false
  #running: Promise<void> | undefined

  /** `onError` is called for a step that cannot succeed, which is then left out. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** The number of steps that are not done. */
  get size(): number {
    return this.#queue.length
  }

  add(step: () => unknown): void {
    if (this.#isOver) return
    this.#queue.push(step)
    if (!this.#isRunning) this.#running = this.#run()
  }

  /** Leaves out a step; false if it has begun, or is not there. */
  remove(step: () => unknown): boolean {
    const at = this.#queue.indexOf(step)
    if (at <= 0) return false
    this.#queue.splice(at, 1)
    return true
  }

  /** Leaves out the steps that have not begun. */
  clear(): void {
    this.#queue.splice(1)
  }

  /** Resolves when all steps are done. */
  async done(): Promise<void> {
    await this.#running
  }

  /** Resolves when the steps that were added until now are done, or left out because of an end. */
  async reached(): Promise<void> {
    if (this.#queue.length === 0 || this.#isOver) return
    const signal = this.#stopped()
    await new Promise<void>((resolve) => {
      const onStop = (): void => resolve()
      signal.addEventListener('abort', onStop, { once: true })
      this.add(() => {
        signal.removeEventListener('abort', onStop)
        resolve()
      })
    })
  }

  /** Leaves out all steps that are not done. */
  stop(): void {
    this.#isOver = true
    this.#stop?.abort()
  }

  #stopped(): AbortSignal {
    return (this.#stop ??= new AbortController()).signal
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    let failures = 0
    while (this.#queue.length > 0 && !this.#isOver) {
      try {
        await (this.#queue[0] as () => unknown)()
        this.#queue.shift()
        failures = 0
      } catch (error) {
        if (isTemporary(error)) await pause(delayOf(failures++, RETRY, Math.random), this.#stopped())
        else {
          this.#queue.shift()
          this.#report(error)
        }
      }
    }
    this.#isRunning = false
    this.#running = undefined
  }

  #report(error: unknown): void {
    try {
      this.#onError(error)
    } catch {
      // The other steps need not suffer from it.
    }
  }
}

/** Whether a store may succeed later. */
function isTemporary(error: unknown): boolean {
  return error instanceof McpError && error.retryable
}
