import { networkOf } from '../../base/address.ts'
import { onWorkers } from '../../base/runtime.ts'
import { isWithinShare } from '../../base/share.ts'
import { SLOW_SENDER, TOO_MANY_BYTES } from '../../errors/limits.ts'
import { type McpError, mcpError } from '../../errors/error.ts'
import { SOON } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import { ownerOf, type RequestSource } from '../../rpc/call.ts'
import { sizeProblem } from '../../wire/message-size.ts'
import { everyMs, type Timer } from './timer.ts'

/** Where the bytes of a budget come from. */
export interface Sender {
  /** The messages of one caller count together; a message without a caller counts by itself. Called once, for a message that is not tiny. */
  caller?(): unknown
  /** Stops and continues reading; absent where that is impossible. */
  pause?(): unknown
  resume?(): unknown
  /** Rejects a message that has stalled. */
  reject?(error: McpError): void
}

/** Smaller messages cost next to nothing, so who sends them does not matter. */
const TINY_BYTES = 8192
/** Messages up to this size are never paused, and rejected only when all bytes are used. */
const SMALL_BYTES = 65_536
/** Large messages leave the rest to small ones. */
const LARGE_PART = 7 / 8
/** While room is short, a message is rejected if nothing of it arrived for this many ticks. */
const STALLED_TICKS = 3
const TICK_MS = 1000

/** The bytes that one server has read from all its clients and not parsed yet. */
export class ReadPool {
  readonly limitBytes: number
  total = 0
  /** Messages that are not tiny, and how many bytes their callers hold. */
  readonly #messages = new Set<ReadBudget>()
  readonly #callers = new Map<unknown, number>()
  /** The message that is read although its caller exceeds its share; others wait for it. */
  #favoured: ReadBudget | undefined
  /** The paused budgets, oldest first. */
  readonly waiting: Set<ReadBudget> = new Set()
  #timer: Timer

  constructor({ unparsedBytes }: Pick<Limits, 'unparsedBytes'>) {
    this.limitBytes = unparsedBytes
  }

  /** Whether more than half is used. */
  get isShort(): boolean {
    return this.total > this.limitBytes / 2
  }

  /** Counts more bytes of a message for its caller, or fewer. */
  count(message: ReadBudget, bytes: number): void {
    const own = (this.#callers.get(message.caller) ?? 0) + bytes
    if (own > 0) this.#callers.set(message.caller, own)
    else this.#callers.delete(message.caller)
    if (message.size > 0) this.#messages.add(message)
    else this.#messages.delete(message)
  }

  /** Decides about a message that grew while room is short: whether it is read on, waits, or is rejected. */
  judge(message: ReadBudget): 'read' | 'wait' | 'reject' {
    if (!onWorkers) this.#timer ??= everyMs(TICK_MS, () => this.#tick())
    if (this.total > this.limitBytes) return 'reject'
    if (message.size <= SMALL_BYTES) return 'read'
    const own = this.#callers.get(message.caller) ?? 0
    if (isWithinShare(own, this.total, this.limitBytes * LARGE_PART)) return 'read'
    this.#favoured ??= message
    return this.#favoured === message ? 'read' : 'wait'
  }

  /** Lets waiting messages continue: all of them when there is room, or else the next one if none exceeds its share. */
  continueWith(ended: ReadBudget | undefined): void {
    if (ended !== undefined) this.waiting.delete(ended)
    if (this.#favoured === ended || !this.isShort) this.#favoured = undefined
    for (const message of this.waiting) {
      if (this.isShort && this.#favoured !== undefined) return
      if (this.isShort) this.#favoured = message
      this.waiting.delete(message)
      message.resume()
    }
  }

  /** Rejects messages that have stalled, as long as room is short. */
  #tick(): void {
    for (const message of this.#messages) {
      if (!this.isShort) break
      if (!this.waiting.has(message) && ++message.idleTicks > STALLED_TICKS) message.reject()
    }
    if (this.isShort) return
    this.continueWith(undefined)
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

/**
 * Counts the bytes of one body or message while it is read, against the limit for one message and the limit for all
 * together. Once half of the latter is used, callers may not exceed their shares: of the large messages that do, one at a
 * time is read, and those that stall are rejected.
 */
export class ReadBudget {
  readonly #pool: ReadPool
  /** The limit for one message. */
  readonly maxBytes: number
  readonly #sender: Sender
  #size = 0
  /** Whether it is more than tiny; its caller is then known. */
  #isKnown = false
  caller: unknown
  /** How often the pool has looked since something arrived. */
  idleTicks = 0

  constructor(pool: ReadPool, maxBytes: number, sender: Sender = {}) {
    this.#pool = pool
    this.maxBytes = maxBytes
    this.#sender = sender
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
    this.#size += bytes
    pool.total += bytes
    this.idleTicks = 0
    if (this.#isKnown) pool.count(this, bytes)
    else if (this.#size > TINY_BYTES) this.#introduce()
    const problem = sizeProblem(this.#size, this.maxBytes)
    if (problem !== undefined) return problem
    if (!pool.isShort) return undefined
    const verdict = pool.judge(this)
    if (verdict === 'read') return undefined
    if (verdict === 'reject' || this.#sender.pause === undefined) return tooMany()
    pool.waiting.add(this)
    this.#sender.pause()
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
    const pool = this.#pool
    this.#size -= given
    pool.total -= given
    if (!this.#isKnown) return
    pool.count(this, -given)
    if (this.#size === 0) this.#isKnown = false
    pool.continueWith(this.#size === 0 ? this : undefined)
  }

  /** Frees all bytes; reading has ended. */
  end(): void {
    this.give(this.#size)
  }

  /** The error for a message that timed out. The sender is not to blame if it was paused. */
  late(): McpError {
    return this.isWaiting ? tooMany() : mcpError(SLOW_SENDER, {})
  }

  /** Rejects the message because it has stalled while others need the room. */
  reject(): void {
    this.#sender.reject?.(mcpError(SLOW_SENDER, {}))
  }

  resume(): void {
    this.idleTicks = 0
    this.#sender.resume?.()
  }

  #introduce(): void {
    this.#isKnown = true
    this.caller = this.#sender.caller?.() ?? this
    this.#pool.count(this, this.#size)
  }
}

/** The caller that a message counts for before its session is known: an authenticated one, or else an address or a connection. */
export function senderOf({ auth, ip }: RequestSource, connection: unknown): unknown {
  if (auth !== undefined) return ownerOf(auth)
  return ip === undefined ? connection : networkOf(ip)
}

function tooMany(): McpError {
  return mcpError(TOO_MANY_BYTES, {}, SOON)
}
