import type { Change } from './watched.ts'

/** Changes that nobody has read yet. Each is told once, however often it came meanwhile. */
export class ChangeQueue {
  readonly #waiting = new Map<string, Change>()
  readonly #ended = new AbortController()
  #wake: () => void = () => undefined

  /** Aborts when nobody reads any more. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /** How many changes wait. */
  get size(): number {
    return this.#waiting.size
  }

  push(change: Change): void {
    this.#waiting.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change)
    this.#wake()
  }

  /** No more changes: whoever reads gets what is left. */
  end(): void {
    this.#ended.abort()
    this.#wake()
  }

  async *read(): AsyncGenerator<Change, void, undefined> {
    for (;;) {
      for (const [key, change] of this.#waiting) {
        this.#waiting.delete(key)
        yield change
      }
      if (this.signal.aborted) return
      if (this.#waiting.size === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
