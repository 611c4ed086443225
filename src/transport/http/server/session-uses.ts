import { nextTask } from '../../../base/next-task.ts'
import { McpError } from '../../../errors/error.ts'
import { TOO_MUCH_HELD } from '../../../errors/server.ts'
import type { Node } from '../../../nodes/node.ts'
import { OWNER, SERVER, TRANSPORT } from '../../../rpc/session-fields.ts'
import type { FieldChanges, StoredSession } from '../../../rpc/session-store.ts'
import type { Soon } from '../../../rpc/soon.ts'

/** How many requests go on in one turn of the event loop: their messages are parsed and handled in it. */
const AT_ONCE = 32

/** How long a session that this node has no room for is not asked for again: all of it would be read, to find that out. */
const REFUSED_MS = 10_000
const MOST_REFUSED = 10_000

interface Refusal {
  readonly error: McpError
  readonly until: number
}

interface Waiter {
  take(stored: StoredSession | undefined): void
  fail(error: unknown): void
}

type Ask = (id: string, owner: string) => Soon<StoredSession | undefined>

/**
 * Asks the store about sessions for their owners, at most once at a time for each: a session may be large, and many small requests would fetch all of it at
 * the same time. Requests that arrive meanwhile share the next question, never the one that is under way: that may have begun before a
 * change which their client has already seen.
 */
export class SessionUses {
  readonly #ask: Ask
  /** Those who wait for the next question of an owner about a session, while one is under way. */
  readonly #waiting = new Map<string, Waiter[]>()
  /** The sessions that there was no room for, by session and owner. */
  readonly #refused = new Map<string, Refusal>()

  constructor(ask: Ask) {
    this.#ask = ask
  }

  /** Calls `take` with the state of a session, before the next question about it; answers what that returns. */
  use<Taken>(
    id: string,
    owner: string,
    take: (stored: StoredSession | undefined) => Taken | Promise<Taken>,
  ): Promise<Taken> {
    const key = `${id} ${owner}`
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        take: (stored) => {
          try {
            this.#checkRoom(key)
            resolve(take(stored))
          } catch (error) {
            this.#note(key, error)
            reject(error as Error)
          }
        },
        fail: reject,
      }
      this.#checkRoom(key)
      const waiting = this.#waiting.get(key)
      if (waiting !== undefined) waiting.push(waiter)
      else void this.#askAll(id, owner, waiter)
    })
  }

  #checkRoom(key: string): void {
    const refusal = this.#refused.get(key)
    if (refusal === undefined) return
    if (performance.now() < refusal.until) throw refusal.error
    this.#refused.delete(key)
  }

  #note(key: string, error: unknown): void {
    if (!(error instanceof McpError) || error.kind !== TOO_MUCH_HELD.kind || this.#refused.has(key)) return
    const [oldest] = this.#refused.keys()
    if (this.#refused.size >= MOST_REFUSED && oldest !== undefined) this.#refused.delete(oldest)
    this.#refused.set(key, { error, until: performance.now() + REFUSED_MS })
  }

  async #askAll(id: string, owner: string, first: Waiter): Promise<void> {
    const key = `${id} ${owner}`
    for (let turn = [first]; turn.length > 0;) {
      const next: Waiter[] = []
      this.#waiting.set(key, next)
      try {
        const stored = await this.#ask(id, owner)
        for (const [at, one] of turn.entries()) {
          if (at > 0 && at % AT_ONCE === 0) await nextTask()
          one.take(stored)
        }
      } catch (error) {
        for (const one of turn) one.fail(error)
      }
      turn = next
    }
    this.#waiting.delete(key)
  }
}

/** The fields by which a node knows the sessions of an owner and a transport before it reads the rest, which may be large. */
export function ownFields({ server }: Node, owner: string, transport: string | null = null): FieldChanges {
  return new Map([
    [SERVER, server],
    [OWNER, owner],
    [TRANSPORT, transport],
  ])
}
