/** The items by a key of each, in their order. */
export function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => unknown,
): ReadonlyMap<unknown, readonly Item[]> {
  const groups = new Map<unknown, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
