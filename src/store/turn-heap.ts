import { Heap, type HeapEntry } from '../base/heap.ts'

/** A caller with items, and its place among those whose first item is not due, or was not at the last look. */
interface Caller<Item> {
  readonly items: Heap<Item>
  place: HeapEntry<Caller<Item>> | undefined
}

/** Items by caller and by time. Callers take turns. Each step takes at most the logarithm of their number, on average. */
export class TurnHeap<Item> {
  readonly #callers = new Map<string, Caller<Item>>()
  readonly #later = new Heap<Caller<Item>>()
  /** The others, the next one first. */
  readonly #ready = new Set<Caller<Item>>()

  get isEmpty(): boolean {
    return this.#callers.size === 0
  }

  add(name: string, at: number, item: Item): HeapEntry<Item> {
    const caller = this.#callers.get(name) ?? { items: new Heap(), place: undefined }
    this.#callers.set(name, caller)
    const entry = caller.items.add(at, item)
    this.#place(caller)
    return entry
  }

  remove(name: string, entry: HeapEntry<Item>): void {
    const caller = this.#callers.get(name)
    caller?.items.remove(entry)
    if (caller?.items.first !== undefined) return this.#place(caller)
    if (caller?.place !== undefined) this.#later.remove(caller.place)
    if (caller !== undefined) this.#ready.delete(caller)
    this.#callers.delete(name)
  }

  /** The earliest item of the next caller that has one which is due. */
  next(now: number): Item | undefined {
    for (let first = this.#later.first; first !== undefined && first.at <= now; first = this.#later.first) {
      this.#later.remove(first)
      first.item.place = undefined
      this.#ready.add(first.item)
    }
    for (const caller of this.#ready) {
      this.#ready.delete(caller)
      const { first } = caller.items
      if (first !== undefined && first.at <= now) {
        this.#ready.add(caller)
        return first.item
      }
      this.#place(caller)
    }
    return undefined
  }

  #place(caller: Caller<Item>): void {
    const { first } = caller.items
    if (first === undefined || this.#ready.has(caller)) return
    if (caller.place === undefined) caller.place = this.#later.add(first.at, caller)
    else this.#later.move(caller.place, first.at)
  }
}
