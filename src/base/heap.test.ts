import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap, type HeapEntry } from './heap.ts'

test('the earliest entry is first, whatever is added, moved and removed', () => {
  const step = fc.tuple(fc.constantFrom('add', 'move', 'remove'), fc.nat(50), fc.nat())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<number>()
      const entries: HeapEntry<number>[] = []
      for (const [kind, at, pick] of steps) {
        const place = entries.length === 0 ? -1 : pick % entries.length
        const entry = entries[place]
        if (kind === 'add' || entry === undefined) entries.push(heap.add(at, pick))
        else if (kind === 'move') heap.move(entry, at)
        else {
          heap.remove(entry)
          entries.splice(place, 1)
        }
        const least = entries.length === 0 ? undefined : Math.min(...entries.map((one) => one.at))
        expect(heap.first?.at).toBe(least)
      }
    }),
  )
})
