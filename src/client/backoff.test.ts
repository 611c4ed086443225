import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createBackoff, type Backoff } from './backoff.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.advanceTimersByTime(1000)
  onTestFinished(() => void vi.useRealTimers())
})

/** How many milliseconds the next attempt waits. */
async function waitOf(backoff: Backoff, signal: AbortSignal = new AbortController().signal): Promise<number> {
  const begun = performance.now()
  const waiting = backoff.wait(signal).then(() => performance.now() - begun)
  await vi.runAllTimersAsync()
  return waiting
}

function createFixed(firstMs: number, maxMs: number = 100_000): Backoff {
  return createBackoff({ firstMs, maxMs }, () => 0)
}

test('the first two attempts are made at once, and each further one waits twice as long, up to a limit', async () => {
  const backoff = createFixed(60, 200)
  const waits: number[] = []
  for (let attempt = 0; attempt < 6; attempt++) {
    waits.push(await waitOf(backoff))
    backoff.failed()
  }
  expect(waits).toEqual([0, 0, 60, 120, 200, 200])
})

test('a wait of a single millisecond is kept too', async () => {
  const backoff = createFixed(1, 1)
  backoff.failed()
  backoff.failed()
  expect(await waitOf(backoff)).toBe(1)
  const held = createFixed(60)
  held.holdOff(1)
  expect(await waitOf(held)).toBe(1)
})

test('a connection that fails before it answered or was stable counts as a failed attempt', async () => {
  const afterUp = async (ms: number): Promise<number> => {
    const backoff = createFixed(60)
    backoff.failed()
    backoff.opened()
    vi.advanceTimersByTime(ms)
    return waitOf(backoff)
  }
  expect([await afterUp(0), await afterUp(4999), await afterUp(5000)]).toEqual([60, 60, 0])
})

test('a connection counts once, however often the next attempt waits', async () => {
  const backoff = createFixed(60)
  backoff.opened()
  expect([await waitOf(backoff), await waitOf(backoff)]).toEqual([0, 0])
})

test('an answer forgets all failures', async () => {
  const backoff = createFixed(60)
  for (let count = 0; count < 5; count++) backoff.failed()
  backoff.opened()
  backoff.answered()
  expect(await waitOf(backoff)).toBe(0)
  backoff.failed()
  expect(await waitOf(backoff)).toBe(0)
})

test('an attempt that failed to open counts once, and not as a connection as well', async () => {
  const backoff = createFixed(60)
  backoff.opened()
  backoff.failed()
  expect(await waitOf(backoff)).toBe(0)
  backoff.failed()
  expect(await waitOf(backoff)).toBe(60)
})

test('a delay that the server asked for holds until it is over, and a shorter one does not replace it', async () => {
  const backoff = createFixed(60)
  backoff.holdOff(500)
  backoff.holdOff(20)
  vi.advanceTimersByTime(100)
  expect(await waitOf(backoff)).toBe(400)
  expect(await waitOf(backoff)).toBe(0)
  for (let count = 0; count < 2; count++) backoff.failed()
  backoff.holdOff(59)
  expect(await waitOf(backoff)).toBe(60)
  backoff.holdOff(61)
  expect(await waitOf(backoff)).toBe(61)
})

test('an abort ends the wait and leaves no timer', async () => {
  const backoff = createFixed(60)
  backoff.holdOff(500)
  const stop = new AbortController()
  const waiting = backoff.wait(stop.signal)
  expect(vi.getTimerCount()).toBe(1)
  stop.abort()
  await waiting
  expect(vi.getTimerCount()).toBe(0)
})
