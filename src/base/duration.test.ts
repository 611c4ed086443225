import { expect, test } from 'vitest'
import { toMs } from './duration.ts'

test.each([
  [250, 250],
  ['250ms', 250],
  ['20s', 20_000],
  ['1.5 m', 90_000],
  ['1h', 3_600_000],
  ['2d', 172_800_000],
] as const)('%j is %d milliseconds', (duration, ms) => {
  expect(toMs(duration, 'ttl')).toBe(ms)
})

test.each(['soon', '-1s', '1w', ''])('%j is rejected with what to write instead', (duration) => {
  expect(() => toMs(duration, 'ttl')).toThrow(/^ttl: .* is not a duration; use milliseconds, or text such as/)
})
