import { type ErrorKind, mcpError } from '../errors/error.ts'
import { OVERLOADED } from '../errors/rpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Call } from './call.ts'
import type { Result } from './dispatch.ts'
import type { Queue } from './queue.ts'

/** What is counted: errors that were sent, by kind, and what happens without one. */
export type Counted =
  | ErrorKind
  /** A client that did not take what it asked for was cut off. */
  | 'slow_reader'
  /** A client that no longer answered was given up. */
  | 'peer_lost'
  /** An event that a client might have come back for was given up. */
  | 'event_forgotten'
  /** A stream that a client might have come back for was given up. */
  | 'stream_forgotten'
  /** Progress or a log message was not sent to a client that is far behind. */
  | 'notice_dropped'
  /** A session ended because nobody used it. */
  | 'session_expired'
  /** A session that nobody used made room for a new one. */
  | 'session_evicted'
  /** The event loop stood still. */
  | 'loop_blocked'
  /** An error that user code let escape. */
  | 'unhandled'

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
  readonly #counts = new Map<Counted, number>()
  readonly #callers = new Map<unknown, number>()
  #running = 0

  /** How often something was counted. */
  get counts(): ReadonlyMap<Counted, number> {
    return this.#counts
  }

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

  count(what: Counted): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
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
