import { expect, test } from 'vitest'
import { Forwarded } from './forwarded.ts'

test('a caller sends up to 1000 messages in ten seconds, whatever others send', () => {
  let now = 0
  const forwarded = new Forwarded(() => now)
  const taken = (caller: string, size = 1): number =>
    Array.from({ length: 1200 }, () => forwarded.take(caller, size)).filter(Boolean).length
  expect([taken('ann'), taken('bob', 100), taken('ann')]).toEqual([1000, 10, 0])
  now += 9999
  expect(taken('ann')).toBe(0)
  now += 1
  expect(taken('ann')).toBe(1000)
})
