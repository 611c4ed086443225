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
const TOO_MUCH = /too much output/

function createClient(patienceMs = 10_000, caller?: unknown): Client {
  let handle: NonNullable<Outlet['_handle']> | null = null
  const abort = vi.fn<() => void>()
  const budget = new WriteBudget({ pool, outlet: () => ({ _handle: handle }), patienceMs, abort, caller })
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

test('when too many bytes are unread, clients must read a tenth of theirs in a second', () => {
  pool = new WritePool({ unsentBytes: 1000 })
  const [slow, steady] = [createClient(), createClient()]
  let [slowLeft, steadyLeft] = [1000, 1000]
  for (const { budget, left } of [slow, steady]) {
    left(1000)
    budget.set(1000)
  }
  vi.advanceTimersByTime(50)
  for (let second = 0; second < 3; second++) {
    expect(() => pool.check()).toThrow(TOO_MUCH)
    for (let step = 0; step < 10; step++) {
      slow.left((slowLeft -= 9))
      steady.left((steadyLeft -= 10))
      vi.advanceTimersByTime(100)
    }
  }
  expect([slow.abort.mock.calls.length > 0, steady.abort.mock.calls.length]).toEqual([true, 0])
})

test('once there is room again, reading anything is enough', () => {
  pool = new WritePool({ unsentBytes: 1000 })
  const [slow, other] = [createClient(), createClient()]
  slow.budget.set(1000)
  other.budget.set(1000)
  expect(() => pool.check()).toThrow(TOO_MUCH)
  other.budget.set(0)
  for (let left = 1000; left > 900; left--) {
    slow.left(left)
    vi.advanceTimersByTime(100)
  }
  expect(slow.abort).not.toHaveBeenCalled()
})

test('a caller that leaves more than its share unread gets nothing more, and the others do', () => {
  pool = new WritePool({ unsentBytes: 1000 })
  const [ann, bob] = [createClient(10_000, 'ann'), createClient(10_000, 'bob')]
  const second = createClient(10_000, 'ann')
  ann.budget.set(200)
  second.budget.set(50)
  expect(() => pool.check('ann')).not.toThrow()
  second.budget.set(51)
  expect(() => pool.check('ann')).toThrow(expect.objectContaining({ kind: 'too_much_unsent' }))
  for (const caller of ['bob', 'eve', undefined]) expect(() => pool.check(caller)).not.toThrow()
  // Each gets a quarter of what the others leave free.
  bob.budget.set(188)
  expect(() => pool.check('bob')).toThrow(TOO_MUCH)
  second.budget.set(0)
  for (const caller of ['ann', 'bob']) expect(() => pool.check(caller)).not.toThrow()
})
