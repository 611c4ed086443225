import { SLOW_SENDER, TOO_MANY_BYTES } from '../../errors/limits.ts'
import { type McpError, mcpError } from '../../errors/error.ts'
import type { Limits } from '../../protocol/limits.ts'
import { sizeProblem } from '../../wire/message-size.ts'

/** What bytes come from: it can be asked to wait. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

/** Nobody waits with less. */
const SMALL_BYTES = 65_536

/** The bytes that one server is reading from all its clients at once. */
export class ReadPool {
  readonly limitBytes: number
  total = 0
  /** How many budgets hold a part of them. */
  holders = 0
  /** Those that were paused, in that order. */
  readonly waiting: Set<ReadBudget> = new Set()

  constructor({ unparsedBytes }: Pick<Limits, 'unparsedBytes'>) {
    this.limitBytes = unparsedBytes
  }
}

/**
 * Counts the bytes of one body or message while it is read, against the limit for one message and the limit for all
 * together. When half of the latter is used, large messages are read one after the other.
 */
export class ReadBudget {
  readonly #pool: ReadPool
  readonly #maxBytes: number
  readonly #flow: Flow | undefined
  #size = 0

  constructor(pool: ReadPool, maxBytes: number, flow?: Flow) {
    this.#pool = pool
    this.#maxBytes = maxBytes
    this.#flow = flow
  }

  get size(): number {
    return this.#size
  }

  /** Whether it waits until others are read. */
  get isWaiting(): boolean {
    return this.#pool.waiting.has(this)
  }

  /** Why a body that announces its size is refused, if it is. */
  announce(size: number): McpError | undefined {
    return sizeProblem(size, this.#maxBytes)
  }

  /** Counts more bytes; the error, if any, is why no more are read. */
  take(bytes: number): McpError | undefined {
    const pool = this.#pool
    if (this.#size === 0) pool.holders++
    this.#size += bytes
    pool.total += bytes
    const problem = sizeProblem(this.#size, this.#maxBytes)
    if (problem !== undefined) return problem
    if (pool.total > pool.limitBytes) return tooMany()
    if (pool.total > pool.limitBytes / 2) this.#wait()
    return undefined
  }

  /** So many bytes are kept now; the error, if any, is why no more are read. */
  hold(size: number): McpError | undefined {
    if (size > this.#size) return this.take(size - this.#size)
    this.give(this.#size - size)
    return undefined
  }

  /** So many of the bytes belonged to something else, and are not kept. */
  give(bytes: number): void {
    if (this.#size === 0) return
    const given = Math.min(bytes, this.#size)
    this.#size -= given
    this.#pool.total -= given
    if (this.#size === 0) this.#pool.holders--
    if (this.#pool.waiting.size > 0) this.#goOn()
  }

  /** Nothing more is read, or kept. */
  end(): void {
    this.give(this.#size)
  }

  /** Why a message that did not come in time is refused: whoever was made to wait is not to blame. */
  late(): McpError {
    return this.isWaiting ? tooMany() : mcpError(SLOW_SENDER, {})
  }

  /** Waits, unless nobody else would go on. */
  #wait(): void {
    if (this.#flow === undefined || this.#size <= SMALL_BYTES) return
    const { holders, waiting } = this.#pool
    if (!this.isWaiting && holders - waiting.size < 2) return
    waiting.add(this)
    this.#flow.pause()
  }

  /** Lets those go on who wait, all of them when there is room and one when nobody else does. */
  #goOn(): void {
    const { total, limitBytes, holders, waiting } = this.#pool
    if (this.#size === 0) waiting.delete(this)
    for (const one of waiting) {
      if (total > limitBytes / 2 && holders > waiting.size) return
      waiting.delete(one)
      one.#flow?.resume()
    }
  }
}

function tooMany(): McpError {
  return mcpError(TOO_MANY_BYTES, {}, { retryAfterMs: 1000 })
}
