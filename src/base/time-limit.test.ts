import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { orAborted } from './backoff.ts'
import { TimeLimit } from './time-limit.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

it('aborts after its time', () => {
  const limit = new TimeLimit(new AbortController().signal, 1000)
  vi.advanceTimersByTime(999)
  expect(limit.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(limit.signal.reason).toMatchObject({ name: 'TimeoutError', message: 'it took longer than 1000 ms' })
})

it('aborts with the other signal, for its reason', () => {
  const outer = new AbortController()
  const limit = new TimeLimit(outer.signal, 1000)
  outer.abort('enough')
  expect(limit.signal.reason).toBe('enough')
  expect(vi.getTimerCount()).toBe(0)
})

it('is aborted from the start if the other signal is', () => {
  const limit = new TimeLimit(AbortSignal.abort('before'), 1000)
  expect(limit.signal.reason).toBe('before')
  expect(vi.getTimerCount()).toBe(0)
})

it('does not abort after its end', () => {
  const outer = new AbortController()
  const limit = new TimeLimit(outer.signal, 1000)
  limit[Symbol.dispose]()
  outer.abort()
  vi.advanceTimersByTime(1000)
  expect(limit.signal.aborted).toBe(false)
})

it('aborts although nothing else holds it when garbage is collected', async () => {
  vi.useRealTimers()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const outer = new AbortController()
  const begin = (): Promise<never> =>
    orAborted(new Promise<never>(() => undefined), new TimeLimit(outer.signal, 100).signal)
  const waiting = begin()
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' })
})
