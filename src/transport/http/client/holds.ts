/** An operation that ends with its transport at the latest. */
export interface Hold {
  readonly signal: AbortSignal
  /** Waits for a part of it; rejects when the operation is aborted. */
  race<Value>(part: Promise<Value>): Promise<Value>
  /** Ends it; after an error, aborts the rest. Returns the error that counts. */
  release(error?: unknown): Error
}

/** All operations of a transport. */
export class Holds {
  readonly #ends = new Set<() => void>()
  /** Functions that cancel replies whose rest is being read only to reuse the connection. */
  readonly leftovers: Set<() => void> = new Set()

  /** Starts an operation, which aborts with `reason` when the transport closes, or when `outer` aborts. */
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

  /** Aborts everything. */
  abortAll(): void {
    for (const end of this.#ends) end()
    for (const cancel of this.leftovers) cancel()
    this.#ends.clear()
    this.leftovers.clear()
  }
}
