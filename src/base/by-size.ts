/** Something that takes bytes, and its place in a `BySize`. */
export interface Sized {
  bytes: number
  group: number
  at: number
}

/** Finds one of the largest items without looking at all: items are grouped by the number of bits in their size. */
export class BySize<Item extends Sized> {
  readonly #groups: (Item[] | undefined)[] = []

  /** Adds, moves or removes an item whose size has changed. */
  put(item: Item, isMember: boolean = item.bytes > 0): void {
    const group = isMember ? 32 - Math.clz32(Math.min(item.bytes, 0xffff_ffff)) : 0
    if (group === item.group) return
    if (item.group > 0) this.#remove(item)
    item.group = group
    if (group > 0) item.at = (this.#groups[group] ??= []).push(item) - 1
  }

  /** An item at least half as large as the largest one. */
  get largest(): Item | undefined {
    return this.#groups.findLast((group) => group !== undefined && group.length > 0)?.[0]
  }

  #remove({ group, at }: Item): void {
    const items = this.#groups[group] as Item[]
    const last = items.pop() as Item
    if (at === items.length) return
    items[at] = last
    last.at = at
  }
}
