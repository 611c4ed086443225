import { clip } from '../base/clip.ts'

/** How many items a cause is reported for: a name may come from a peer, and the log must not grow with what peers send. */
const MAX_ITEMS = 20

/** How much of an item is kept, for the same reason. */
const MAX_LENGTH = 512

/** Remembers what the operator was warned of. */
export class Warnings {
  readonly #items = new Map<string, Set<string>>()

  /** Whether a cause has not been reported yet for an item, and may still be. */
  isNew(cause: string, item: string): boolean {
    let items = this.#items.get(cause)
    if (items === undefined) this.#items.set(cause, (items = new Set()))
    // Encoded, because a slice would keep the whole text in memory.
    const kept = JSON.stringify(clip(item, MAX_LENGTH))
    if (items.size >= MAX_ITEMS || items.has(kept)) return false
    items.add(kept)
    return true
  }
}
