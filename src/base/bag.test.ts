import { expect, test } from 'vitest'
import { Bag } from './bag.ts'

test('a bag has what was added and not deleted', () => {
  const bag = new Bag<string>()
  for (const item of ['a', 'b', 'c', 'd']) bag.add(item)
  expect([bag.delete('b'), bag.delete('b'), bag.delete('d')]).toEqual([true, false, true])
  expect([...bag].toSorted()).toEqual(['a', 'c'])
  expect([bag.size, bag.find((item) => item > 'b'), bag.find((item) => item === 'd')]).toEqual([
    2,
    'c',
    undefined,
  ])
})

test('items may be deleted while others are visited', () => {
  const bag = new Bag<number>()
  for (const item of [1, 2, 3]) bag.add(item)
  const seen: number[] = []
  for (const item of bag) {
    seen.push(item)
    bag.delete(item)
  }
  expect([seen, bag.size]).toEqual([[1, 2, 3], 0])
})
