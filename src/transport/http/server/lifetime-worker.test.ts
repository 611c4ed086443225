import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openLifetime } from './lifetime-worker.ts'
import type { Sweeper } from './sweeper.ts'

/** Beats come as often as the sweeper looks, and at least every 5 seconds. */
const BEAT_MS = 1000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  // Every lifetime of a test that is still open misses its beats.
  vi.clearAllTimers()
  advanceToLoss(60_000)
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

function makeSweeper(): { readonly sweeper: Sweeper; readonly look: ReturnType<typeof vi.fn> } {
  const look = vi.fn<() => void>()
  return { sweeper: { everyMs: BEAT_MS, look } as unknown as Sweeper, look }
}

test('what is deferred runs soon, in order, and nothing after the lifetime is over', async () => {
  const lifetime = openLifetime({ sweeper: undefined, execution: undefined })
  const ran: number[] = []
  for (const number of [1, 2]) lifetime.defer(() => ran.push(number))
  expect(ran).toEqual([])
  await vi.advanceTimersByTimeAsync(0)
  lifetime.defer(() => ran.push(3))
  await vi.advanceTimersByTimeAsync(0)
  expect(ran).toEqual([1, 2, 3])
  lifetime.close()
  lifetime.defer(() => ran.push(4))
  await vi.advanceTimersByTimeAsync(0)
  expect(ran).toEqual([1, 2, 3])
})

test('a request is kept alive until its reply is complete and its handlers are over', async () => {
  const waitUntil = vi.fn<(promise: Promise<unknown>) => void>()
  const { sweeper } = makeSweeper()
  const lifetime = openLifetime({ sweeper, execution: { waitUntil } })
  let kept = true
  void waitUntil.mock.calls[0]?.[0].then(() => (kept = false))
  let isOver = false
  const lost = vi.fn<() => void>()
  lifetime.hold(() => isOver, lost)
  lifetime.close()
  await vi.advanceTimersByTimeAsync(10 * BEAT_MS)
  expect([kept, vi.getTimerCount()]).toEqual([true, 1])
  isOver = true
  await vi.advanceTimersByTimeAsync(BEAT_MS)
  expect([kept, vi.getTimerCount()]).toEqual([false, 0])
  expect(lost).not.toHaveBeenCalled()
})

test('a request without handlers ends with its reply', () => {
  const lifetime = openLifetime({ sweeper: undefined, execution: undefined })
  lifetime.hold(
    () => true,
    () => undefined,
  )
  expect(vi.getTimerCount()).toBe(1)
  lifetime.close()
  lifetime.close()
  expect(vi.getTimerCount()).toBe(0)
})

/** Lets beats be missed, and lets requests notice it. */
function advanceToLoss(ms: number): void {
  vi.advanceTimersByTime(ms)
  openLifetime({ sweeper: undefined, execution: undefined }).close()
  vi.advanceTimersByTime(ms)
  openLifetime({ sweeper: undefined, execution: undefined }).close()
}

test('requests whose timers have stopped are noticed by later requests, and only once', () => {
  const { sweeper } = makeSweeper()
  const stopped = openLifetime({ sweeper, execution: undefined })
  const lost = vi.fn<() => void>()
  stopped.hold(() => false, lost)
  // The runtime stops a request together with its timers.
  vi.clearAllTimers()
  const visit = (ms: number): number => {
    vi.advanceTimersByTime(ms)
    openLifetime({ sweeper, execution: undefined }).close()
    return lost.mock.calls.length
  }
  expect([visit(2 * BEAT_MS - 1), visit(BEAT_MS), visit(BEAT_MS - 1)]).toEqual([0, 0, 0])
  expect([visit(1), visit(10 * BEAT_MS)]).toEqual([1, 1])
})

test('a request whose beats are late because the isolate was busy is not given up', () => {
  const { sweeper } = makeSweeper()
  const late = openLifetime({ sweeper, execution: undefined })
  const lost = vi.fn<() => void>()
  late.hold(() => false, lost)
  const now = vi.spyOn(performance, 'now')
  for (let count = 1; count < 4; count++) {
    // A request arrives before the timers that are due fire.
    now.mockReturnValue(performance.now() + 100 * BEAT_MS)
    openLifetime({ sweeper, execution: undefined }).close()
    vi.advanceTimersByTime(BEAT_MS)
  }
  expect(lost).not.toHaveBeenCalled()
  now.mockRestore()
})

test('handlers that are over are not told that their request was lost', () => {
  const { sweeper } = makeSweeper()
  const lifetime = openLifetime({ sweeper, execution: undefined })
  const [over, running] = [vi.fn<() => void>(), vi.fn<() => void>()]
  lifetime.hold(() => true, over)
  lifetime.hold(() => false, running)
  vi.clearAllTimers()
  advanceToLoss(2 * BEAT_MS)
  expect([over.mock.calls.length, running.mock.calls.length]).toEqual([0, 1])
})

test('open requests take turns in looking after sessions and streams', () => {
  const { sweeper, look } = makeSweeper()
  const scopes = [1, 2, 3].map(() => openLifetime({ sweeper, execution: undefined }))
  vi.advanceTimersByTime(BEAT_MS)
  expect(look).toHaveBeenCalledTimes(1)
  scopes[0]?.close()
  vi.advanceTimersByTime(2 * BEAT_MS)
  expect(look).toHaveBeenCalledTimes(3)
  for (const lifetime of scopes) lifetime.close()
  vi.advanceTimersByTime(2 * BEAT_MS)
  expect(look).toHaveBeenCalledTimes(3)
})

test('a Worker whose requests cannot reach each other is refused', () => {
  const set = (value: boolean): void =>
    void vi.stubGlobal('Cloudflare', {
      compatibilityFlags: { handle_cross_request_promise_resolution: value },
    })
  set(false)
  expect(() => openLifetime({ sweeper: undefined, execution: undefined })).toThrow(
    'compatibility_date: before 2024-10-14',
  )
  set(true)
  openLifetime({ sweeper: undefined, execution: undefined }).close()
})
