import { expect, onTestFinished, test, vi } from 'vitest'
import { Clock, type Timed } from './clock.ts'
import { stopClock } from './stop-clock.ts'

function begin(): Clock {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  return new Clock()
}

/** A member that knows whether it runs. */
function member(clock: Clock): Timed & { runs: boolean } {
  const self = {
    clock,
    runs: true,
    stop: () => void (self.runs = false),
    start: () => void (self.runs = true),
  }
  clock.join(self)
  return self
}

test('a clock measures time, can be set, and stands still while it is stopped', () => {
  const clock = begin()
  vi.advanceTimersByTime(100)
  expect(clock.elapsed).toBe(100)
  clock.elapsed = 30
  const resume = stopClock(clock)
  vi.advanceTimersByTime(1000)
  expect(clock.elapsed).toBe(30)
  clock.elapsed = 40
  resume()
  resume()
  vi.advanceTimersByTime(5)
  expect(clock.elapsed).toBe(45)
})

test('members stop and start with it; those that join later stop at once, and those that left do not start', () => {
  const clock = begin()
  const [early, gone] = [member(clock), member(clock)]
  clock.members.delete(gone)
  const [first, second] = [stopClock(clock), stopClock(clock)]
  const late = member(clock)
  expect([early.runs, late.runs, gone.runs]).toEqual([false, false, true])
  first()
  first()
  expect([early.runs, late.runs]).toEqual([false, false])
  clock.members.delete(late)
  second()
  expect([early.runs, late.runs]).toEqual([true, false])
  const third = stopClock(clock)
  expect(early.runs).toBe(false)
  third()
  expect([early.runs, clock.stoppedAt]).toEqual([true, undefined])
})

test('whatever waits for an operation stops with it, with its own clock', () => {
  const clock = begin()
  const opening = new Clock()
  const waiting = member(clock)
  opening.join(waiting)
  const resume = stopClock(opening)
  const late = member(new Clock())
  opening.join(late)
  vi.advanceTimersByTime(50)
  expect([waiting.runs, late.runs, clock.elapsed, late.clock.elapsed]).toEqual([false, false, 0, 0])
  // What has left still starts when the stop is over.
  opening.members.delete(late)
  resume()
  vi.advanceTimersByTime(5)
  expect([waiting.runs, late.runs, clock.elapsed, late.clock.elapsed]).toEqual([true, true, 5, 5])
})
