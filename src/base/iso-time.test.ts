import { expect, test } from 'vitest'
import { isoTime } from './iso-time.ts'

test.each([0, 1, 999, 1000, 1_700_000_000_000, 1_700_000_000_042, 1_700_000_059_999, -1, -1000, 1.9])(
  'the time %d is written as a Date writes it',
  (ms) => {
    expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    // The same second, and then another one.
    expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    expect(isoTime(ms + 1000)).toBe(new Date(ms + 1000).toISOString())
  },
)
