import { mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Call } from './call.ts'
import type { Result } from './dispatch.ts'
import type { Queue } from './queue.ts'

/** A request that comes while as many as may be are answered. */
export interface Turn {
  readonly call: Call
  readonly caller: unknown
  /** How large it is. */
  readonly bytes: number
  answer(call: Call): Result | Promise<Result>
}

/** What a server has to do at this moment, over all its transports, and what it had to count so far. */
export class Load {
  /** Throws when nothing more should be answered for now; set by transports that have reasons. */
  check: (() => void) | undefined
  /** Those who wait, once anybody did. */
  queue: Queue | undefined
  readonly #callers = new Map<unknown, number>()
  #running = 0

  /** How many requests take their time. What is answered at once and what lasts are no part of it. */
  get running(): number {
    return this.#running
  }

  /** How many of them are a caller's. */
  runningFor(caller: unknown): number {
    return this.#callers.get(caller) ?? 0
  }

  /** How many requests wait until others are answered. */
  get waiting(): number {
    return this.queue?.size ?? 0
  }

  /** A request takes its time; whoever calls what this returns says, once, that it is over. */
  enter(call: Call, caller: unknown): () => void {
    if (methodRow(call.method)?.lasting === true) return NOTHING
    this.#running++
    if (caller !== undefined) this.#callers.set(caller, this.runningFor(caller) + 1)
    return () => this.#leave(caller)
  }

  /**
   * Answers a request when others are answered. Fails when too many wait already, or when it waited for too long. Few
   * servers ever have more to do than they may, so what that takes is loaded when one does.
   */
  async inTurn(turn: Turn, limits: Limits): Promise<Result> {
    if (limits.queued === 0) throw mcpError(OVERLOADED, {}, { retryAfterMs: 1000 })
    const { answerInTurn } = await import('./queue.ts')
    return answerInTurn(this, turn, limits)
  }

  #leave(caller: unknown): void {
    this.#running--
    if (caller !== undefined) {
      const left = this.runningFor(caller) - 1
      if (left > 0) this.#callers.set(caller, left)
      else this.#callers.delete(caller)
    }
    if (this.queue !== undefined) this.queue.next()
  }
}

const NOTHING = (): void => undefined
