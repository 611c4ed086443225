import { Heap, type HeapEntry } from '../../base/heap.ts'
import { isWithinAddressShare } from '../../base/share.ts'
import { Tally } from '../../base/tally.ts'
import { textBytes } from '../../base/weight.ts'
import { mcpError } from '../../errors/error.ts'
import { MUCH_LATER } from '../../errors/retry-after.ts'
import { TOO_MUCH_HELD } from '../../errors/server.ts'
import type { Limits } from '../../protocol/limits.ts'
import { MOST_CHANGES, MOST_NAME_BYTES } from '../../rpc/session-store.ts'

/** What a node has added to a session in the store. */
interface Stored {
  readonly session: string
  readonly caller: string
  bytes: number
  /** The sizes of long names that were removed, the oldest first: the store still remembers the last ones. */
  removed: number[]
  /** When the store forgets the session, unless other nodes use it. */
  end: HeapEntry<Stored>
}

/** A session in the store. */
export interface StoredSession {
  readonly session: string
  /** The caller or the network that the session is counted with. */
  readonly caller: string
  /** How long the store keeps it unused. */
  readonly idleMs: number
}

/**
 * Counts the subscriptions that one node adds to sessions in a store, as long as the store keeps them: a node forgets a session after a
 * minute, and then no longer counts its memory. One caller or network gets most of what the others leave free.
 */
export class StoredBytes {
  readonly #limit: number
  readonly #sessions = new Map<string, Stored>()
  readonly #ends = new Heap<Stored>()
  readonly #callers = new Tally()
  #total = 0

  constructor({ heldBytes }: Pick<Limits, 'heldBytes'>) {
    this.#limit = heldBytes
  }

  /** How many bytes are counted. */
  get bytes(): number {
    return this.#total
  }

  /** Counts a field that is added to a session; throws if its caller has too many bytes. */
  take({ session, caller, idleMs }: StoredSession, field: string): void {
    const bytes = sizeOf(field)
    const now = performance.now()
    for (let first = this.#ends.first; first !== undefined && first.at <= now; first = this.#ends.first)
      this.forget(first.item.session)
    const own = this.#callers.get(caller) + bytes
    if (!isWithinAddressShare(own, this.#total + bytes, this.#limit))
      throw mcpError(TOO_MUCH_HELD, { limit: this.#limit, share: 'three quarters' }, MUCH_LATER)
    let stored = this.#sessions.get(session)
    if (stored === undefined) {
      const added: Omit<Stored, 'end'> = { session, caller, bytes: 0, removed: [] }
      stored = added as Stored
      stored.end = this.#ends.add(now + idleMs, stored)
      this.#sessions.set(session, stored)
    } else this.#ends.move(stored.end, now + idleMs)
    this.#change(stored, bytes)
  }

  /** A field is removed from a session. Another node may have added it. */
  free(session: string, field: string): void {
    const stored = this.#sessions.get(session)
    if (stored === undefined) return
    if (field.length <= SHORT) return this.#free(stored, sizeOf(field))
    const { removed } = stored
    removed.push(sizeOf(field))
    for (
      let sum = removed.reduce((one, two) => one + two, 0);
      removed.length > MOST_CHANGES || sum > MOST_NAME_BYTES;
    ) {
      const oldest = removed.shift() as number
      sum -= oldest
      this.#free(stored, oldest)
    }
  }

  /** The store keeps a session longer. */
  touch({ session, idleMs }: Omit<StoredSession, 'caller'>): void {
    const stored = this.#sessions.get(session)
    if (stored !== undefined) this.#ends.move(stored.end, performance.now() + idleMs)
  }

  /** A session has ended. */
  forget(session: string): void {
    const stored = this.#sessions.get(session)
    if (stored === undefined) return
    this.#sessions.delete(session)
    this.#ends.remove(stored.end)
    this.#change(stored, -stored.bytes)
  }

  #free(stored: Stored, bytes: number): void {
    if (stored.bytes > bytes) this.#change(stored, -bytes)
    else this.forget(stored.session)
  }

  #change(stored: Stored, bytes: number): void {
    stored.bytes += bytes
    this.#total += bytes
    this.#callers.add(stored.caller, bytes)
  }
}

/** What a field takes in the store besides its text. */
const OVERHEAD = 128
/** Names up to this length take little after they were removed, so they no longer count. */
const SHORT = 256

function sizeOf(field: string): number {
  return textBytes(field) + OVERHEAD
}
