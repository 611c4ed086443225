/** Items of callers that take turns. Those of one caller stay in order. */
export class CallerTurns<Item> {
  /** The items of each caller, the next one to be served first. */
  readonly #callers = new Map<string, Item[]>()

  add(caller: string, item: Item): void {
    const items = this.#callers.get(caller)
    if (items === undefined) this.#callers.set(caller, [item])
    else items.push(item)
  }

  /** Takes so many items out, or all if there are fewer. */
  take(most: number): Item[] {
    const taken: Item[] = []
    for (const [caller, items] of this.#callers) {
      if (taken.length >= most) break
      taken.push(items.shift() as Item)
      // Behind all others, whom this loop reaches first.
      this.#callers.delete(caller)
      if (items.length > 0) this.#callers.set(caller, items)
    }
    return taken
  }
}
