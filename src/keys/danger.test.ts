import { expect, test } from 'vitest'
import { mapsAllUsers } from './danger.ts'

test.each([
  ['         0          0 4294967295\n', true],
  ['         0       1000          1\n', false],
  ['         0       1000          1\n         1     100000      65536\n', false],
  ['      1000          0          1\n', false],
])('the map of users %j is that of the whole system: %s', (map, expected) => {
  expect(mapsAllUsers(map)).toBe(expected)
})
