import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openScope } from './scope-worker.ts'
import type { Sweeper } from './sweeper.ts'

/** Beats come as often as the sweeper looks, and at least every 5 seconds. */
const BEAT_MS = 1000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  // Every scope of a test that is still open misses its beats.
  vi.clearAllTimers()
  vi.advanceTimersByTime(60_000)
  openScope({ sweeper: undefined, execution: undefined }).close()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

function makeSweeper(): { readonly sweeper: Sweeper; readonly look: ReturnType<typeof vi.fn> } {
  const look = vi.fn<() => void>()
  return { sweeper: { everyMs: BEAT_MS, look } as unknown as Sweeper, look }
}

test('what is deferred runs soon, in order, and nothing after the scope is over', async () => {
  const scope = openScope({ sweeper: undefined, execution: undefined })
  const ran: number[] = []
  for (const number of [1, 2]) scope.defer(() => ran.push(number))
  expect(ran).toEqual([])
  await vi.advanceTimersByTimeAsync(0)
  scope.defer(() => ran.push(3))
  await vi.advanceTimersByTimeAsync(0)
  expect(ran).toEqual([1, 2, 3])
  scope.close()
  scope.defer(() => ran.push(4))
  await vi.advanceTimersByTimeAsync(0)
  expect(ran).toEqual([1, 2, 3])
})

test('a request is kept alive until its reply is complete and its handlers are over', async () => {
  const waitUntil = vi.fn<(promise: Promise<unknown>) => void>()
  const { sweeper } = makeSweeper()
  const scope = openScope({ sweeper, execution: { waitUntil } })
  let kept = true
  void waitUntil.mock.calls[0]?.[0].then(() => (kept = false))
  let isOver = false
  const lost = vi.fn<() => void>()
  scope.hold(() => isOver, lost)
  scope.close()
  await vi.advanceTimersByTimeAsync(10 * BEAT_MS)
  expect([kept, vi.getTimerCount()]).toEqual([true, 1])
  isOver = true
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect([kept, vi.getTimerCount()]).toEqual([false, 0])
  expect(lost).not.toHaveBeenCalled()
})

test('a request without handlers ends with its reply', () => {
  const scope = openScope({ sweeper: undefined, execution: undefined })
  scope.hold(
    () => true,
    () => undefined,
  )
  expect(vi.getTimerCount()).toBe(1)
  scope.close()
  scope.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('requests whose timers have stopped are noticed by the next request, and only once', async () => {
  const { sweeper } = makeSweeper()
  const stopped = openScope({ sweeper, execution: undefined })
  const lost = vi.fn<() => void>()
  stopped.hold(() => false, lost)
  // The runtime stops a request together with its timers.
  vi.clearAllTimers()
  vi.advanceTimersByTime(3 * BEAT_MS - 1)
  openScope({ sweeper, execution: undefined }).close()
  expect(lost).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  for (let count = 0; count < 2; count++) openScope({ sweeper, execution: undefined }).close()
  expect(lost).toHaveBeenCalledOnce()
})

test('handlers that are over are not told that their request was lost', () => {
  const { sweeper } = makeSweeper()
  const scope = openScope({ sweeper, execution: undefined })
  const [over, running] = [vi.fn<() => void>(), vi.fn<() => void>()]
  scope.hold(() => true, over)
  scope.hold(() => false, running)
  vi.clearAllTimers()
  vi.advanceTimersByTime(3 * BEAT_MS)
  openScope({ sweeper, execution: undefined }).close()
  expect([over.mock.calls.length, running.mock.calls.length]).toEqual([0, 1])
})

test('open requests take turns in looking after sessions and streams', () => {
  const { sweeper, look } = makeSweeper()
  const scopes = [1, 2, 3].map(() => openScope({ sweeper, execution: undefined }))
  vi.advanceTimersByTime(BEAT_MS)
  expect(look).toHaveBeenCalledTimes(1)
  scopes[0]?.close()
  vi.advanceTimersByTime(2 * BEAT_MS)
  expect(look).toHaveBeenCalledTimes(3)
  for (const scope of scopes) scope.close()
  vi.advanceTimersByTime(2 * BEAT_MS)
  expect(look).toHaveBeenCalledTimes(3)
})

test('a Worker whose requests cannot reach each other is refused', () => {
  const set = (value: boolean): void =>
    void vi.stubGlobal('Cloudflare', {
      compatibilityFlags: { handle_cross_request_promise_resolution: value },
    })
  set(false)
  expect(() => openScope({ sweeper: undefined, execution: undefined })).toThrow(
    'compatibility_date: before 2024-10-14',
  )
  set(true)
  openScope({ sweeper: undefined, execution: undefined }).close()
})
