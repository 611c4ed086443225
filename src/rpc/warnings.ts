import { clip } from '../base/clip.ts'

/** How many items a cause is reported for: a name may come from a peer, and the log must not grow with what peers send. */
const MAX_ITEMS = 20

/** When a cause that was reported for so many is reported for others, so that names made up by a peer hide no others for good. */
const RESET_MS = 3_600_000

/** How much of an item is kept, for the same reason. */
const MAX_LENGTH = 512

interface Reported {
  readonly items: Set<string>
  /** When the first item was reported. */
  readonly since: number
}

/** Remembers what the operator was warned of. */
export class Warnings {
  readonly #causes = new Map<string, Reported>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether a cause has not been reported yet for an item, and may still be. */
  isNew(cause: string, item: string): boolean {
    const { items } = this.#reported(cause)
    // Encoded, because a slice would keep the whole text in memory.
    const kept = JSON.stringify(clip(item, MAX_LENGTH))
    if (items.size >= MAX_ITEMS || items.has(kept)) return false
    items.add(kept)
    return true
  }

  #reported(cause: string): Reported {
    const known = this.#causes.get(cause)
    const isFull = known !== undefined && known.items.size >= MAX_ITEMS
    if (known !== undefined && !(isFull && this.#now() - known.since >= RESET_MS)) return known
    const reported: Reported = { items: new Set(), since: this.#now() }
    this.#causes.set(cause, reported)
    return reported
  }
}
