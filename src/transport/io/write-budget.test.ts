import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toLimits } from '../../base/limits.ts'
import { WriteBudget, WritePool, type Outlet } from './write-budget.ts'

interface Client {
  readonly budget: WriteBudget
  readonly abort: ReturnType<typeof vi.fn>
  /** How many bytes the system has not sent. */
  left(bytes: number | undefined): void
}

let pool = new WritePool(toLimits())

function createClient(patienceMs = 10_000): Client {
  let handle: NonNullable<Outlet['_handle']> | null = null
  const abort = vi.fn<() => void>()
  const budget = new WriteBudget({ pool, outlet: () => ({ _handle: handle }), patienceMs, abort })
  const left = (bytes: number | undefined): void =>
    void (handle = bytes === undefined ? null : { writeQueueSize: bytes })
  return { budget, abort, left }
}

beforeEach(() => {
  pool = new WritePool(toLimits())
  vi.useFakeTimers()
  // The clock starts at 0, which no running process sees.
  vi.advanceTimersByTime(123)
})

afterEach(() => {
  vi.clearAllTimers()
  vi.useRealTimers()
})

test('clients are checked as long as bytes wait for one of them', () => {
  const [one, two] = [createClient(), createClient()]
  one.budget.set(1)
  two.budget.set(1)
  one.budget.set(0)
  vi.advanceTimersByTime(50)
  expect(vi.getTimerCount()).toBe(1)
  two.budget.set(0)
  vi.advanceTimersByTime(50)
  expect(vi.getTimerCount()).toBe(0)
})

test('unread bytes are counted over all clients', () => {
  const [one, two] = [createClient(), createClient()]
  one.budget.set(10)
  two.budget.set(5)
  one.budget.set(7)
  expect(pool.total).toBe(12)
  two.budget.set(0)
  expect(pool.total).toBe(7)
})

test('a client that reads nothing for too long is aborted, and not before', () => {
  const { budget, abort, left } = createClient(1000)
  left(100)
  budget.set(100)
  // Budgets are checked every 50 ms, for the first time after 50.
  vi.advanceTimersByTime(50 + 1000)
  expect(abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(abort).toHaveBeenCalledTimes(1)
})

test('reading anything restarts the timeout of a client', () => {
  const { budget, abort, left } = createClient(1000)
  left(100)
  budget.set(100)
  vi.advanceTimersByTime(1000)
  left(99)
  vi.advanceTimersByTime(1050)
  expect(abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(abort).toHaveBeenCalledTimes(1)
})

test('a client whose bytes cannot be counted is never aborted', () => {
  const { budget, abort } = createClient(100)
  budget.set(100)
  vi.advanceTimersByTime(10_000)
  expect(abort).not.toHaveBeenCalled()
})

test('bytes below TLS count as well', () => {
  const abort = vi.fn<() => void>()
  const handle = { writeQueueSize: 5, _parent: { writeQueueSize: 100 } }
  const budget = new WriteBudget({ pool, outlet: () => ({ _handle: handle }), patienceMs: 100, abort })
  budget.set(100)
  for (let step = 0; step < 5; step++) {
    vi.advanceTimersByTime(100)
    handle._parent.writeQueueSize--
  }
  expect(abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(200)
  expect(abort).toHaveBeenCalled()
})

test('a client that caught up gets the full timeout again', () => {
  const { budget, abort, left } = createClient(1000)
  left(100)
  budget.set(100)
  vi.advanceTimersByTime(1000)
  budget.set(0)
  budget.set(100)
  vi.advanceTimersByTime(1050)
  expect(abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(abort).toHaveBeenCalled()
})

test('when too many bytes are unread, nothing more is written, and clients that read nothing time out after a second', () => {
  pool = new WritePool({ unsentBytes: 100 })
  const [patient, hasty] = [createClient(10_000), createClient(200)]
  for (const { budget, left } of [patient, hasty]) {
    left(50)
    budget.set(50)
  }
  expect(() => pool.check()).not.toThrow()
  patient.budget.set(51)
  expect(() => pool.check()).toThrow(expect.objectContaining({ kind: 'too_much_unsent', retryAfterMs: 1000 }))
  vi.advanceTimersByTime(50 + 200)
  expect(hasty.abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(hasty.abort).toHaveBeenCalled()
  vi.advanceTimersByTime(1000 - 250)
  expect(patient.abort).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(patient.abort).toHaveBeenCalled()
})
