import type { ReadLimits } from '../../../protocol/client-limits.ts'
import { tooLarge } from './body.ts'

/** An operation that ends with its transport at the latest. */
export interface Hold {
  readonly signal: AbortSignal
  /** Waits for a part of it; rejects when the operation is aborted. */
  race<Value>(part: Promise<Value>): Promise<Value>
  /** Ends it; after an error, aborts the rest. Returns the error that counts. */
  release(error?: unknown): Error
}

/** Counts more bytes of replies that are not finished, or fewer. Throws, and counts none, if a client has too many. */
export type Count = (bytes: number) => void

/** All operations of a transport. */
export class Holds {
  readonly #ends = new Set<() => void>()
  /** Functions that cancel replies whose rest is being read only to reuse the connection. */
  readonly leftovers: Set<() => void> = new Set()

  /** Counts the bytes of all replies that are not finished. */
  readonly count: Count

  constructor({ clientBytes, clientUnparsedBytes }: Pick<ReadLimits, 'clientBytes' | 'clientUnparsedBytes'>) {
    const limit = Math.max(clientBytes, clientUnparsedBytes)
    let all = 0
    this.count = (bytes) => {
      if (bytes > 0 && all + bytes > limit) throw tooLarge(limit, 'bytes at once')
      all += bytes
    }
  }

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
