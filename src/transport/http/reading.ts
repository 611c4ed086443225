import { mcpError, type McpError } from '../../protocol/errors.ts'
import { httpError } from '../../protocol/http-errors.ts'
import type { Limits } from '../../protocol/limits.ts'

/** Bytes being read from all clients at once. */
let total = 0

/** Counts the bytes of one body while it is read, against the limits of one and of all together. */
export class Reading {
  readonly #limits: Limits
  #size = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** Why a body that announces its size is refused, if it is. */
  announce(size: number): McpError | undefined {
    return size > this.#limits.httpBytes ? this.#tooLarge() : undefined
  }

  /** Counts more bytes; the error, if any, is why no more are read. */
  take(bytes: number): McpError | undefined {
    this.#size += bytes
    total += bytes
    if (this.#size > this.#limits.httpBytes) return this.#tooLarge()
    return total > this.#limits.unparsedBytes
      ? httpError('too_many_bytes', {}, { retryAfterMs: 1000 })
      : undefined
  }

  /** Nothing more is read, or kept. */
  end(): void {
    total -= this.#size
    this.#size = 0
  }

  #tooLarge(): McpError {
    return mcpError('too_large', { limit: this.#limits.httpBytes })
  }
}
