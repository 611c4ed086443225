import { expect, onTestFinished, test, vi } from 'vitest'
import { Deadline } from './deadline.ts'

const DAY = 86_400_000

function begin(idleMs: number, totalMs: number, signal?: AbortSignal): Deadline {
  vi.useFakeTimers()
  const deadline = new Deadline({ method: 'ping', idleMs, totalMs, signal })
  onTestFinished(() => {
    deadline.end()
    vi.useRealTimers()
  })
  return deadline
}

test('a request times out after silence; messages postpone that up to the total timeout', () => {
  const deadline = begin(100, 250)
  for (let times = 0; times < 2; times++) {
    vi.advanceTimersByTime(90)
    deadline.touch()
  }
  vi.advanceTimersByTime(60)
  expect(deadline.aborted).toBe(false)
  vi.advanceTimersByTime(20)
  expect(deadline.reason).toMatchObject({ kind: 'timeout', message: 'ping was not answered within 250 ms' })
})

test.each([
  [30 * DAY, Infinity],
  [Infinity, 30 * DAY],
  [40 * DAY, 30 * DAY],
  [Infinity, Infinity],
])('a time of %d and %d ms, longer than timers can wait, is no time at all', (idleMs, totalMs) => {
  const deadline = begin(idleMs, totalMs)
  vi.advanceTimersByTime(DAY)
  deadline.touch()
  vi.advanceTimersByTime(DAY)
  expect(deadline.aborted).toBe(false)
})

test('the total timeout may be shorter than the idle timeout', () => {
  const deadline = begin(1000, 250)
  vi.advanceTimersByTime(249)
  expect(deadline.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(deadline.reason).toMatchObject({ kind: 'timeout', message: 'ping was not answered within 250 ms' })
})

test('the total timeout counts from the time at which it began', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const limits = { method: 'ping', idleMs: 1000, totalMs: 250, signal: undefined }
  const deadline = new Deadline({ ...limits, begun: performance.now() - 200 })
  const late = new Deadline({ ...limits, begun: performance.now() - 300 })
  expect([deadline.left, late.left]).toEqual([50, -50])
  vi.advanceTimersByTime(49)
  expect([deadline.aborted, late.aborted]).toEqual([false, true])
  vi.advanceTimersByTime(1)
  expect(deadline.reason).toMatchObject({ kind: 'timeout', message: 'ping was not answered within 250 ms' })
})

test('the first reason to abort counts; it is reported once, and signals created later carry it too', () => {
  const caller = new AbortController()
  const deadline = begin(100, 250, caller.signal)
  const cancelled = vi.fn<() => void>()
  deadline.onCancel({ cancelled })
  vi.advanceTimersByTime(100)
  caller.abort()
  expect(cancelled).toHaveBeenCalledOnce()
  expect(deadline.reason).toMatchObject({ kind: 'timeout' })
  expect([deadline.signal.aborted, deadline.signal.reason]).toEqual([true, deadline.reason])
})

test('after the end neither a timeout nor the caller aborts anything, and no timer is left', () => {
  const caller = new AbortController()
  const deadline = begin(100, 250, caller.signal)
  deadline.touch()
  deadline.end()
  expect(vi.getTimerCount()).toBe(0)
  caller.abort()
  expect(deadline.aborted).toBe(false)
})
