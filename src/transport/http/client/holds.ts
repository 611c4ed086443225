/** Something under way that ends with its line, or before. */
export interface Hold {
  readonly signal: AbortSignal
  /** Waits for a part of it, but no longer than it lasts. */
  race<Value>(part: Promise<Value>): Promise<Value>
  /** It is over; after an error, what is left of it is cut. Gives back the error that counts. */
  release(error?: unknown): Error
}

/** Everything that a line has under way. */
export class Holds {
  readonly #ends = new Set<() => void>()
  /** What cuts replies that nobody waits for, but which are read to their end. */
  readonly leftovers: Set<() => void> = new Set()

  /** Begins something that ends early for `reason` when the line does, or when `outer` aborts. */
  begin(reason: () => Error, outer?: AbortSignal): Hold {
    const controller = new AbortController()
    const { signal } = controller
    const end = (): void => controller.abort(reason())
    const stop = (): void => controller.abort(outer?.reason)
    this.#ends.add(end)
    if (outer?.aborted === true) stop()
    else outer?.addEventListener('abort', stop, { once: true })
    return {
      signal,
      race: (part) =>
        new Promise((resolve, reject) => {
          const fail = (): void => reject(signal.reason as Error)
          part.then(resolve, reject)
          if (signal.aborted) fail()
          else signal.addEventListener('abort', fail, { once: true })
        }),
      release: (error) => {
        this.#ends.delete(end)
        outer?.removeEventListener('abort', stop)
        if (signal.aborted) return signal.reason as Error
        if (error !== undefined) controller.abort()
        return error as Error
      },
    }
  }

  /** Ends everything. */
  cut(): void {
    for (const end of this.#ends) end()
    for (const cut of this.leftovers) cut()
    this.#ends.clear()
    this.leftovers.clear()
  }
}
