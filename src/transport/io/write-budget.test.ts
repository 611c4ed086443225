import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toLimits } from '../../base/limits.ts'
import { WriteBudget, WritePool, type Outlet } from './write-budget.ts'

interface Client {
  readonly budget: WriteBudget
  readonly cut: ReturnType<typeof vi.fn>
  /** So many bytes are left in the system. */
  left(bytes: number | undefined): void
}

let pool = new WritePool(toLimits())

function createClient(patienceMs = 10_000): Client {
  let handle: NonNullable<Outlet['_handle']> | null = null
  const cut = vi.fn<() => void>()
  const budget = new WriteBudget({ pool, outlet: () => ({ _handle: handle }), patienceMs, cut })
  const left = (bytes: number | undefined): void =>
    void (handle = bytes === undefined ? null : { writeQueueSize: bytes })
  return { budget, cut, left }
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

test('clients are looked after as long as something waits for one of them', () => {
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

test('what waits is counted over all clients', () => {
  const [one, two] = [createClient(), createClient()]
  one.budget.set(10)
  two.budget.set(5)
  one.budget.set(7)
  expect(pool.total).toBe(12)
  two.budget.set(0)
  expect(pool.total).toBe(7)
})

test('a client that takes nothing for longer than its time is cut off, and not before', () => {
  const { budget, cut, left } = createClient(1000)
  left(100)
  budget.set(100)
  // It is looked at every 50 ms, for the first time after 50.
  vi.advanceTimersByTime(50 + 1000)
  expect(cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(cut).toHaveBeenCalledTimes(1)
})

test('a client that takes something has its time anew', () => {
  const { budget, cut, left } = createClient(1000)
  left(100)
  budget.set(100)
  vi.advanceTimersByTime(1000)
  left(99)
  vi.advanceTimersByTime(1050)
  expect(cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(cut).toHaveBeenCalledTimes(1)
})

test('a client whose bytes cannot be counted is never cut off', () => {
  const { budget, cut } = createClient(100)
  budget.set(100)
  vi.advanceTimersByTime(10_000)
  expect(cut).not.toHaveBeenCalled()
})

test('bytes below TLS count as well', () => {
  const cut = vi.fn<() => void>()
  const handle = { writeQueueSize: 5, _parent: { writeQueueSize: 100 } }
  const budget = new WriteBudget({ pool, outlet: () => ({ _handle: handle }), patienceMs: 100, cut })
  budget.set(100)
  for (let step = 0; step < 5; step++) {
    vi.advanceTimersByTime(100)
    handle._parent.writeQueueSize--
  }
  expect(cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(200)
  expect(cut).toHaveBeenCalled()
})

test('a client for whom something waits again has all the time again', () => {
  const { budget, cut, left } = createClient(1000)
  left(100)
  budget.set(100)
  vi.advanceTimersByTime(1000)
  budget.set(0)
  budget.set(100)
  vi.advanceTimersByTime(1050)
  expect(cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(cut).toHaveBeenCalled()
})

test('when too much waits, nothing more is written, and those who take nothing have a second', () => {
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
  expect(hasty.cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(hasty.cut).toHaveBeenCalled()
  vi.advanceTimersByTime(1000 - 250)
  expect(patient.cut).not.toHaveBeenCalled()
  vi.advanceTimersByTime(50)
  expect(patient.cut).toHaveBeenCalled()
})
