import { mcpError, type McpError } from '../../protocol/errors.ts'
import { httpError } from '../../protocol/http-errors.ts'
import type { Limits } from '../../protocol/limits.ts'

/** Bytes being read from all clients at once. */
let total = 0

/** Counts the bytes of one body or message while it is read, against the limits of one and of all together. */
export class Reading {
  readonly #limits: Limits
  readonly #maxBytes: number
  #size = 0

  constructor(limits: Limits, maxBytes: number = limits.httpBytes) {
    this.#limits = limits
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#size
  }

  /** Why a body that announces its size is refused, if it is. */
  announce(size: number): McpError | undefined {
    return size > this.#maxBytes ? this.#tooLarge() : undefined
  }

  /** Counts more bytes; the error, if any, is why no more are read. */
  take(bytes: number): McpError | undefined {
    this.#size += bytes
    total += bytes
    if (this.#size > this.#maxBytes) return this.#tooLarge()
    return total > this.#limits.unparsedBytes
      ? httpError('too_many_bytes', {}, { retryAfterMs: 1000 })
      : undefined
  }

  /** So many of the bytes belonged to something else, and are not kept. */
  give(bytes: number): void {
    const given = Math.min(bytes, this.#size)
    this.#size -= given
    total -= given
  }

  /** Nothing more is read, or kept. */
  end(): void {
    total -= this.#size
    this.#size = 0
  }

  #tooLarge(): McpError {
    return mcpError('too_large', { limit: this.#maxBytes })
  }
}
