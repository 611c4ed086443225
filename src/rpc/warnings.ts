/** How many items a cause is reported for: a name may come from a peer, and the log must not grow with what peers send. */
const MAX_ITEMS = 20

/** Remembers what the operator was warned of. */
export class Warnings {
  readonly #items = new Map<string, Set<string>>()

  /** Whether a cause has not been reported yet for an item, and may still be. */
  isNew(cause: string, item: string): boolean {
    let items = this.#items.get(cause)
    if (items === undefined) this.#items.set(cause, (items = new Set()))
    if (items.size >= MAX_ITEMS || items.has(item)) return false
    items.add(item)
    return true
  }
}
