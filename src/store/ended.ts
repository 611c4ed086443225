import type { Heap } from '../base/heap.ts'

/** Removes all whose time is over, and answers the time now. `remove` must take an item out of the heap. */
export function removeEnded<Item>(ends: Heap<Item>, remove: (item: Item) => void): number {
  const now = performance.now()
  for (let first = ends.first; first !== undefined && first.at <= now; first = ends.first) remove(first.item)
  return now
}
