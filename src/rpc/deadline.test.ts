import { expect, onTestFinished, test, vi } from 'vitest'
import { Clock } from './clock.ts'
import { Deadline } from './deadline.ts'
import { stopClock } from './stop-clock.ts'

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
  const [clock, lateClock] = [new Clock(), new Clock()]
  clock.elapsed = 200
  lateClock.elapsed = 300
  const deadline = new Deadline({ ...limits, clock })
  const late = new Deadline({ ...limits, clock: lateClock })
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

test('while a person logs in neither timeout runs; afterwards the idle timeout starts again', () => {
  const deadline = begin(100, 250)
  vi.advanceTimersByTime(90)
  const resume = stopClock(deadline.clock)
  expect(vi.getTimerCount()).toBe(0)
  deadline.touch()
  vi.advanceTimersByTime(DAY)
  expect([deadline.aborted, deadline.left]).toEqual([false, 160])
  resume()
  resume()
  vi.advanceTimersByTime(99)
  expect([deadline.aborted, deadline.left]).toEqual([false, 61])
  deadline.touch()
  vi.advanceTimersByTime(60)
  expect(deadline.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(deadline.reason).toMatchObject({ kind: 'timeout', message: 'ping was not answered within 250 ms' })
})

test('two pauses that overlap are over with the longer one', () => {
  const deadline = begin(100, 250)
  const first = stopClock(deadline.clock)
  vi.advanceTimersByTime(50)
  const second = stopClock(deadline.clock)
  first()
  vi.advanceTimersByTime(500)
  expect(deadline.aborted).toBe(false)
  second()
  vi.advanceTimersByTime(100)
  expect(deadline.aborted).toBe(true)
})

test('the parts of an operation share its clock, and a pause of one pauses the whole', () => {
  const whole = begin(Infinity, 250)
  const part = new Deadline({
    method: 'part',
    idleMs: 100,
    totalMs: 250,
    signal: undefined,
    clock: whole.clock,
  })
  vi.advanceTimersByTime(50)
  const resume = stopClock(part.clock)
  vi.advanceTimersByTime(1000)
  resume()
  part.end()
  expect([whole.left, part.left]).toEqual([200, 200])
  vi.advanceTimersByTime(199)
  expect(whole.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(whole.aborted).toBe(true)
})

test('a pause that outlives its request starts no timer', () => {
  const caller = new AbortController()
  const ended = begin(100, 250)
  const stopped = new Deadline({ method: 'ping', idleMs: 100, totalMs: 250, signal: caller.signal })
  const resumes = [stopClock(ended.clock), stopClock(stopped.clock)]
  ended.end()
  caller.abort()
  expect(stopped.reason).toMatchObject({ kind: 'cancelled' })
  for (const resume of resumes) resume()
  expect(vi.getTimerCount()).toBe(0)
})
