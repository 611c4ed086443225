import { mcpError } from '../errors/error.ts'
import { TOO_MANY_QUESTIONS } from '../errors/limits.ts'
import { ownerOf, type Call } from './call.ts'

/** One caller may use this part of the room that all others leave, so that a few callers cannot take everything. */
const SHARE = 1 / 4

/** The requests that wait for answers of their clients. */
export class Questions {
  /** How many answers each request waits for, and whose it is. */
  readonly #calls = new Map<unknown, { count: number; readonly caller: unknown }>()
  readonly #callers = new Map<unknown, number>()

  /** The number of requests. */
  get size(): number {
    return this.#calls.size
  }

  has(call: unknown): boolean {
    return this.#calls.size > 0 && this.#calls.has(call)
  }

  /** Adds a question of a request. Says whether it is its only one; throws if there is no room for another request. */
  begin(call: Call, most: number): boolean {
    const asking = this.#calls.get(call)
    if (asking !== undefined) {
      asking.count++
      return false
    }
    const caller = call.source.auth === undefined ? call.peer.session : ownerOf(call.source.auth)
    const own = this.#callers.get(caller) ?? 0
    const room = most - (this.size - own)
    if (own >= Math.max(Math.min(room, 1), room * SHARE))
      throw mcpError(TOO_MANY_QUESTIONS, {}, { retryAfterMs: 1000 })
    this.#callers.set(caller, own + 1)
    this.#calls.set(call, { count: 1, caller })
    return true
  }

  /** Removes a question. Says whether it was the last one of its request. */
  end(call: Call): boolean {
    const asking = this.#calls.get(call)
    return asking !== undefined && --asking.count === 0 && this.delete(call)
  }

  /** Removes all questions of a request. Says whether there were any. */
  delete(call: unknown): boolean {
    const asking = this.#calls.get(call)
    if (asking === undefined) return false
    this.#calls.delete(call)
    const left = (this.#callers.get(asking.caller) ?? 0) - 1
    if (left > 0) this.#callers.set(asking.caller, left)
    else this.#callers.delete(asking.caller)
    return true
  }
}
