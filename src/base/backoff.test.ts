import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { delayOf, doubledMs, orAborted, pause } from './backoff.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const times = { firstMs: 100, maxMs: 1000 }

test('waits double up to a limit', () => {
  expect([0, 1, 2, 3, 4, 2000].map((nth) => doubledMs(nth, times))).toEqual([100, 200, 400, 800, 1000, 1000])
})

test.each([
  [0, 0, 100],
  [0, 1, 125],
  [3, 0, 800],
  [3, 1, 1000],
  [4, 0, 1000],
  [4, 1, 750],
  [9, 0.5, 875],
])('wait %i with the chance %d is %d ms', (nth, chance, ms) => {
  expect(delayOf(nth, times, () => chance)).toBe(ms)
})

/** Whether a promise has settled, as far as is known. */
function watch(promise: Promise<unknown>): { settled: boolean } {
  const state = { settled: false }
  const settle = (): void => void (state.settled = true)
  promise.then(settle, settle)
  return state
}

describe('a pause', () => {
  test('lasts as long as it should, and leaves nothing behind', async () => {
    const { signal } = new AbortController()
    const state = watch(pause(250, signal))
    await vi.advanceTimersByTimeAsync(249)
    expect(state.settled).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(state.settled).toBe(true)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test.each([0, 1])('ends when signal %i aborts, and leaves nothing behind', async (which) => {
    const controllers = [new AbortController(), new AbortController()]
    const signals = controllers.map(({ signal }) => signal)
    const state = watch(pause(250, ...signals))
    await vi.advanceTimersByTimeAsync(1)
    expect(state.settled).toBe(false)
    controllers[which]?.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect([state.settled, vi.getTimerCount()]).toEqual([true, 0])
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
  })

  test.each([0, 1])('does not begin when signal %i has aborted', async (which) => {
    const open = new AbortController().signal
    const signals = [open, open].with(which, AbortSignal.abort())
    const state = watch(pause(250, ...signals))
    await vi.advanceTimersByTimeAsync(0)
    expect([state.settled, vi.getTimerCount()]).toEqual([true, 0])
    expect(getEventListeners(open, 'abort')).toEqual([])
  })

  test('longer than a timer can wait ends only by an abort', async () => {
    const longest = watch(pause(2_147_483_647))
    expect(vi.getTimerCount()).toBe(1)
    const controller = new AbortController()
    const longer = watch(pause(2_147_483_648, controller.signal))
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(2_147_483_647)
    expect([longest.settled, longer.settled]).toEqual([true, false])
    controller.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(longer.settled).toBe(true)
  })
})

describe('a promise under a signal', () => {
  test('gives its value or its error, and leaves nothing behind', async () => {
    const { signal } = new AbortController()
    expect(await orAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(orAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    await vi.advanceTimersByTimeAsync(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('rejects with the reason of an abort, before or while it waits', async () => {
    const never = new Promise<never>(() => undefined)
    await expect(orAborted(never, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
    const controller = new AbortController()
    const waiting = orAborted(never, controller.signal)
    controller.abort(new Error('while'))
    await expect(waiting).rejects.toThrow('while')
  })
})
