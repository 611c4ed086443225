import { expect, test } from 'vitest'
import { Tally } from './tally.ts'

test('adds numbers by key, and never goes below zero', () => {
  const tally = new Tally()
  tally.add('a', 2)
  tally.add('b', 5)
  tally.add('a', 1)
  tally.add('b', -7)
  tally.add('b', 1)
  expect([tally.get('a'), tally.get('b'), tally.get('c')]).toEqual([3, 1, 0])
})

test('a key whose sum is zero takes no memory', () => {
  const tally = new Tally()
  for (const key of ['a', {}]) {
    tally.add(key, 1)
    tally.add(key, -1)
  }
  expect(tally.size).toBe(0)
})
