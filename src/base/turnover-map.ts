/** So many members may be dropped before the table is replaced, however few remain. */
const LEAST_DROPPED = 32

/**
 * A map whose members come and go quickly. A `Map` would keep the dropped ones alive for long: the engine links the tables that it
 * outgrows, so once one of them is old, so are all that follow (`base/bag.ts`). This one moves to a new `Map` before that happens.
 */
export class TurnoverMap<Key, Value> {
  #map = new Map<Key, Value>()
  #dropped = 0

  get size(): number {
    return this.#map.size
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  set(key: Key, value: Value): void {
    this.#map.set(key, value)
  }

  /** Says whether the key was there. */
  delete(key: Key): boolean {
    if (!this.#map.delete(key)) return false
    if (++this.#dropped >= Math.max(LEAST_DROPPED, this.#map.size)) {
      this.#map = new Map(this.#map)
      this.#dropped = 0
    }
    return true
  }

  /** The values of this moment, whatever is added or deleted meanwhile. */
  values(): readonly Value[] {
    return [...this.#map.values()]
  }
}
