/** An item in a heap. Its place is kept, so that it can be moved and removed without a search. */
export interface HeapEntry<Item> {
  readonly item: Item
  at: number
  place: number
}

/** Items by time, the earliest first. Each step takes at most the logarithm of their number. */
export class Heap<Item> {
  readonly #entries: HeapEntry<Item>[] = []

  /** The earliest entry. */
  get first(): HeapEntry<Item> | undefined {
    return this.#entries[0]
  }

  add(at: number, item: Item): HeapEntry<Item> {
    const entry = { item, at, place: this.#entries.length }
    this.#entries.push(entry)
    this.#rise(entry)
    return entry
  }

  move(entry: HeapEntry<Item>, at: number): void {
    entry.at = at
    this.#rise(entry)
    this.#sink(entry)
  }

  remove(entry: HeapEntry<Item>): void {
    const last = this.#entries.pop()
    if (last === undefined || last === entry) return
    this.#put(last, entry.place)
    this.move(last, last.at)
  }

  #rise(entry: HeapEntry<Item>): void {
    for (;;) {
      const parent = this.#entries[(entry.place - 1) >> 1]
      if (parent === undefined || parent.at <= entry.at) return
      this.#swap(parent, entry)
    }
  }

  #sink(entry: HeapEntry<Item>): void {
    for (;;) {
      const left = this.#entries[2 * entry.place + 1]
      const right = this.#entries[2 * entry.place + 2]
      const child = right !== undefined && left !== undefined && right.at < left.at ? right : left
      if (child === undefined || child.at >= entry.at) return
      this.#swap(entry, child)
    }
  }

  #swap(upper: HeapEntry<Item>, lower: HeapEntry<Item>): void {
    const { place } = upper
    this.#put(upper, lower.place)
    this.#put(lower, place)
  }

  #put(entry: HeapEntry<Item>, place: number): void {
    this.#entries[place] = entry
    entry.place = place
  }
}
