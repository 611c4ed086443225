import { SLOW_SENDER, TOO_MANY_BYTES } from '../../errors/limits.ts'
import { type McpError, mcpError } from '../../errors/error.ts'
import { SOON } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import { sizeProblem } from '../../wire/message-size.ts'

/** A source of bytes that can be paused. */
export interface Flow {
  pause(): unknown
  resume(): unknown
}

/** Messages up to this size are never paused. */
const SMALL_BYTES = 65_536

/** The bytes that one server has read from all its clients and not parsed yet. */
export class ReadPool {
  readonly limitBytes: number
  total = 0
  /** How many budgets hold some of them. */
  holders = 0
  /** The paused budgets, oldest first. */
  readonly waiting: Set<ReadBudget> = new Set()

  constructor({ unparsedBytes }: Pick<Limits, 'unparsedBytes'>) {
    this.limitBytes = unparsedBytes
  }
}

/**
 * Counts the bytes of one body or message while it is read, against the limit for one message and the limit for all
 * together. Once half of the latter is used, large messages are read one at a time.
 */
export class ReadBudget {
  readonly #pool: ReadPool
  /** The limit for one message. */
  readonly maxBytes: number
  readonly #flow: Flow | undefined
  #size = 0

  constructor(pool: ReadPool, maxBytes: number, flow?: Flow) {
    this.#pool = pool
    this.maxBytes = maxBytes
    this.#flow = flow
  }

  get size(): number {
    return this.#size
  }

  /** Whether it is paused until others have been read. */
  get isWaiting(): boolean {
    return this.#pool.waiting.has(this)
  }

  /** The error for a body whose announced size is too large; undefined when it is not. */
  announce(size: number): McpError | undefined {
    return sizeProblem(size, this.maxBytes)
  }

  /** Counts more bytes. Returns an error when reading must stop. */
  take(bytes: number): McpError | undefined {
    const pool = this.#pool
    if (this.#size === 0) pool.holders++
    this.#size += bytes
    pool.total += bytes
    const problem = sizeProblem(this.#size, this.maxBytes)
    if (problem !== undefined) return problem
    if (pool.total > pool.limitBytes) return tooMany()
    if (pool.total > pool.limitBytes / 2) this.#pause()
    return undefined
  }

  /** Sets the number of bytes held. Returns an error when reading must stop. */
  hold(size: number): McpError | undefined {
    if (size > this.#size) return this.take(size - this.#size)
    this.give(this.#size - size)
    return undefined
  }

  /** Frees bytes that are no longer held. */
  give(bytes: number): void {
    if (this.#size === 0) return
    const given = Math.min(bytes, this.#size)
    this.#size -= given
    this.#pool.total -= given
    if (this.#size === 0) this.#pool.holders--
    if (this.#pool.waiting.size > 0) this.#resumeWaiting()
  }

  /** Frees all bytes; reading has ended. */
  end(): void {
    this.give(this.#size)
  }

  /** The error for a message that timed out. The sender is not to blame if it was paused. */
  late(): McpError {
    return this.isWaiting ? tooMany() : mcpError(SLOW_SENDER, {})
  }

  /** Pauses, unless all others are paused. */
  #pause(): void {
    if (this.#flow === undefined || this.#size <= SMALL_BYTES) return
    const { holders, waiting } = this.#pool
    if (!this.isWaiting && holders - waiting.size < 2) return
    waiting.add(this)
    this.#flow.pause()
  }

  /** Resumes paused budgets: all of them when there is room, or one when all others are paused. */
  #resumeWaiting(): void {
    const { total, limitBytes, holders, waiting } = this.#pool
    if (this.#size === 0) waiting.delete(this)
    for (const budget of waiting) {
      if (total > limitBytes / 2 && holders > waiting.size) return
      waiting.delete(budget)
      budget.#flow?.resume()
    }
  }
}

function tooMany(): McpError {
  return mcpError(TOO_MANY_BYTES, {}, SOON)
}
