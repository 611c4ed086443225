/** An item in a chain. */
export interface Link<Item> {
  readonly item: Item
  before: Link<Item> | undefined
  next: Link<Item> | undefined
}

/** Items in the order in which they were added. Any of them can be removed, or be where reading begins, without a search. */
export class Chain<Item> {
  #first: Link<Item> | undefined
  #last: Link<Item> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The link that follows, or the first. */
  after(link: Link<Item> | undefined): Link<Item> | undefined {
    return link === undefined ? this.#first : link.next
  }

  add(item: Item): Link<Item> {
    const link: Link<Item> = { item, before: this.#last, next: undefined }
    if (this.#last === undefined) this.#first = link
    else this.#last.next = link
    this.#last = link
    this.#size++
    return link
  }

  remove(link: Link<Item>): void {
    const { before, next } = link
    if (before === undefined) this.#first = next
    else before.next = next
    if (next === undefined) this.#last = before
    else next.before = before
    // Otherwise an old link that was removed would keep younger ones alive.
    link.before = undefined
    link.next = undefined
    this.#size--
  }
}
