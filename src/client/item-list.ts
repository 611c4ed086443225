/** A list of a server. `for await` reads it page by page. */
export interface ItemList<Item> extends AsyncGenerator<Item, void, undefined> {
  /** Reads the whole list into an array. */
  toArray(): Promise<Item[]>
}

/** Adds `toArray`, which async generators do not have in every runtime. */
export function toList<Item>(items: AsyncGenerator<Item, void, undefined>): ItemList<Item> {
  return Object.assign(items, {
    async toArray() {
      const all: Item[] = []
      for await (const item of items) all.push(item)
      return all
    },
  })
}
