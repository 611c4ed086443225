import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Call } from './call.ts'
import type { Result } from './dispatch.ts'
import type { Queue } from './queue.ts'

/** A request that arrives while the server is at its limit. */
export interface Turn {
  readonly call: Call
  readonly caller: unknown
  /** The estimated size of its message in memory. */
  readonly bytes: number
  answer(call: Call): Result | Promise<Result>
  /** Counts it no longer, even if its own code was stopped; set when it is about to be queued. */
  leave?(): void
}

const SOON = { retryAfterMs: 1000 }

/** The requests that a server is running and queueing at the moment, over all its transports. */
export class Load {
  /** Throws while the server is too busy for new requests of a caller; set by transports that can be overloaded. */
  check: ((caller: unknown) => void) | undefined
  /** Queued requests; created when one is first queued. */
  queue: Queue | undefined
  readonly #callers = new Map<unknown, number>()
  /** The requests that wait for answers of their clients, and for how many. */
  readonly #asking = new Map<Call, number>()
  #running = 0
  #bytes = 0

  /** The number of running requests, excluding synchronous and long-lived ones and those that wait for their clients. */
  get running(): number {
    return this.#running
  }

  /** The number of requests that wait for answers of their clients. */
  get asking(): number {
    return this.#asking.size
  }

  /** The estimated size of their messages in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** How many requests of a caller are running or wait for its answers. */
  runningFor(caller: unknown): number {
    return this.#callers.get(caller) ?? 0
  }

  /** The number of queued requests. */
  get waiting(): number {
    return this.queue?.size ?? 0
  }

  /** Counts a request as running until `leave` is called for it; says no to a long-lived one, which is not counted. */
  enter(call: Call, caller: unknown, bytes: number): boolean {
    if (methodRow(call.method)?.lasting === true) return false
    this.#running++
    this.#bytes += bytes
    if (caller !== undefined) this.#callers.set(caller, this.runningFor(caller) + 1)
    return true
  }

  /** Counts a request no longer, and starts the next queued one. */
  leave(call: Call, caller: unknown, bytes: number): void {
    if (!this.#asking.delete(call)) this.#running--
    this.#bytes -= bytes
    if (caller !== undefined) {
      const left = this.runningFor(caller) - 1
      if (left > 0) this.#callers.set(caller, left)
      else this.#callers.delete(caller)
    }
    if (this.queue !== undefined) this.queue.next()
  }

  /**
   * Asks the client of a request. Meanwhile others may run in its place, because a client may take its time; at most so many
   * requests wait at once.
   */
  async whileAsking<Answer>(call: Call, most: number, ask: () => Promise<Answer>): Promise<Answer> {
    const others = this.#asking.get(call)
    if (others === undefined) {
      if (this.#asking.size >= most) throw mcpError(OVERLOADED, {}, SOON)
      this.#running--
    }
    this.#asking.set(call, (others ?? 0) + 1)
    if (this.queue !== undefined) this.queue.next()
    try {
      return await ask()
    } finally {
      const left = (this.#asking.get(call) ?? 0) - 1
      if (left > 0) this.#asking.set(call, left)
      else if (this.#asking.delete(call)) this.#running++
    }
  }

  /**
   * Queues a request until others are answered. Rejects when the queue is full or the wait is too long. The queue is
   * loaded on demand because few servers ever reach their limit.
   */
  async inTurn(turn: Turn, limits: Limits): Promise<Result> {
    if (limits.queued === 0) throw mcpError(OVERLOADED, {}, SOON)
    const { answerInTurn } = await import('./queue.ts')
    return answerInTurn(this, turn, limits)
  }
}
