import { expect, test } from 'vitest'
import { readPoll } from './task-report.ts'

test.each([
  [250, 250],
  [0, 100],
  [-5, 100],
  [1e300, 30_000],
  [undefined, 1000],
  ['5', 1000],
  [null, 1000],
])('a poll interval of %j means %d ms', (given, ms) => {
  expect(readPoll({ pollIntervalMs: given })).toBe(ms)
  expect(readPoll({ pollInterval: given })).toBe(ms)
})
