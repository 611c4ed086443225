/**
 * A few objects that come and go quickly, in no order. A `Set` would keep the dropped ones alive for long: the engine links
 * the tables that a set outgrows, so once one of them is old, so are all that follow, with everything they refer to.
 */
export class Bag<Item> implements Iterable<Item> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.push(item)
  }

  /** Says whether the item was there. */
  delete(item: Item): boolean {
    const at = this.#items.indexOf(item)
    if (at < 0) return false
    const last = this.#items.pop() as Item
    if (at < this.#items.length) this.#items[at] = last
    return true
  }

  find(isWanted: (item: Item) => boolean): Item | undefined {
    return this.#items.find(isWanted)
  }

  /** Goes over the items of this moment, whatever is added or deleted meanwhile. */
  [Symbol.iterator](): Iterator<Item> {
    return [...this.#items][Symbol.iterator]()
  }
}
