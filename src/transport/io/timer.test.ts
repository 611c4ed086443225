import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterMs, everyMs, within } from './timer.ts'

const LONGEST = 2_147_483_647

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a timer fires once, or never when the limit is off', () => {
  const act = vi.fn<() => void>()
  afterMs(100, act)
  vi.advanceTimersByTime(99)
  expect(act).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(act).toHaveBeenCalledTimes(1)
  expect([afterMs(LONGEST, act), afterMs(LONGEST + 1, act), afterMs(Infinity, act)]).toEqual([
    expect.anything(),
    undefined,
    undefined,
  ])
  expect(vi.getTimerCount()).toBe(1)
})

test('a timer fires repeatedly, or never when the limit is off', () => {
  const act = vi.fn<() => void>()
  const timer = everyMs(100, act)
  vi.advanceTimersByTime(350)
  expect(act).toHaveBeenCalledTimes(3)
  expect(timer?.hasRef()).toBe(false)
  expect([everyMs(LONGEST, act), everyMs(LONGEST + 1, act)]).toEqual([expect.anything(), undefined])
})

test('a wait ends when `done` is called, without leaving a timer, or when it times out', async () => {
  let done: () => void = () => undefined
  const told = within(100, (end) => (done = end))
  done()
  await told
  expect(vi.getTimerCount()).toBe(0)
  let isOver = false
  const late = within(100, () => undefined).then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(99)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await late).toBe(true)
})
