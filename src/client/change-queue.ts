import type { Change } from './watched.ts'

/** Changes that have not been read yet. A change that is repeated before it is read is delivered once. */
export class ChangeQueue {
  /** By the URI of the resource, as it is: to make another text of it for each change takes long. Lists have symbols. */
  readonly #unread = new Map<string | symbol, Change>()
  readonly #ended = new AbortController()
  #wake: () => void = () => undefined
  #error: Error | undefined

  /** Aborts when the queue ends. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  get size(): number {
    return this.#unread.size
  }

  push(change: Change): void {
    this.#unread.set(change.kind === 'resource' ? change.uri : Symbol.for(change.kind), change)
    this.#wake()
  }

  /** Ends the queue, after an error if there is one. Readers still get the remaining changes. */
  end(error?: Error): void {
    this.#error ??= error
    this.#ended.abort()
    this.#wake()
  }

  async *read(): AsyncGenerator<Change, void, undefined> {
    for (;;) {
      for (const [key, change] of this.#unread) {
        this.#unread.delete(key)
        yield change
      }
      if (this.#error !== undefined) throw this.#error
      if (this.signal.aborted) return
      if (this.#unread.size === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
