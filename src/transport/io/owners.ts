import { hasFarFewer } from '../../base/share.ts'

/** Items by the authenticated caller or the network that they are counted for, oldest first, to share a limited number of places fairly. */
export class Owners<Item extends { readonly countedFor: string }> {
  readonly #all = new Map<string, Set<Item>>()

  add(item: Item): void {
    const own = this.#all.get(item.countedFor)
    if (own === undefined) this.#all.set(item.countedFor, new Set([item]))
    else own.add(item)
  }

  delete(item: Item): void {
    const own = this.#all.get(item.countedFor)
    if (own?.delete(item) === true && own.size === 0) this.#all.delete(item.countedFor)
  }

  /** The items of the owner with the most; `isLarge` says whether that owner has far more than `newcomer`. */
  largest(newcomer: string): { readonly items: Iterable<Item>; readonly isLarge: boolean } {
    let items: ReadonlySet<Item> = new Set()
    for (const own of this.#all.values()) if (own.size > items.size) items = own
    return { items, isLarge: hasFarFewer(this.#all.get(newcomer)?.size ?? 0, items.size) }
  }
}
