import { expect, test } from 'vitest'
import { isoTime } from './iso-time.ts'

test.each([
  0, 1, 999, 1000, 1_700_000_000_000, 1_700_000_000_042, 1_700_000_059_999, 951_782_399_999,
  -62_135_596_800_001, 253_402_300_800_000, -1, -1000, 1.9,
])('the time %d is written as a Date writes it', (ms) => {
  expect(isoTime(ms)).toBe(new Date(ms).toISOString())
  // The same day, and then others.
  expect(isoTime(ms)).toBe(new Date(ms).toISOString())
  for (const more of [1000, 59_000, 3_599_000, 12 * 3_600_000, 86_400_000, -86_400_000])
    expect(isoTime(ms + more)).toBe(new Date(ms + more).toISOString())
})
