import { expect, onTestFinished, test, vi } from 'vitest'
import { inTurns } from './in-turns.ts'

/** A clock that advances only when it is told to. */
function useClock(): { advance(ms: number): void } {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return { advance: (ms) => void (now += ms) }
}

test('items that take little time are done at once', () => {
  const clock = useClock()
  const double = (item: number): number => (clock.advance(5), item * 2)
  expect(inTurns([1, 2, 3, 4], double)).toEqual([2, 4, 6, 8])
  expect(inTurns([], double)).toEqual([])
})

test('others have a turn after every 20 milliseconds, and the order stays', async () => {
  const clock = useClock()
  const log: unknown[] = []
  const take = (item: number): number => {
    log.push(item)
    setImmediate(() => log.push('others'))
    clock.advance(11)
    return -item
  }
  expect(await inTurns([1, 2, 3, 4, 5, 6], take)).toEqual([-1, -2, -3, -4, -5, -6])
  expect(log.slice(0, 8)).toEqual([1, 2, 'others', 'others', 3, 4, 'others', 'others'])
})

test('the last item is not followed by a pause', () => {
  const clock = useClock()
  expect(inTurns([1], (item) => (clock.advance(100), item))).toEqual([1])
})

test('an error ends the work, also after a pause', async () => {
  const clock = useClock()
  const take = (item: number): number => {
    clock.advance(100)
    if (item === 2) throw new Error('two')
    return item
  }
  await expect(inTurns([1, 2, 3], take)).rejects.toThrow('two')
  expect(() => inTurns([2], take)).toThrow('two')
})

test('a promise that is rejected during a pause is left to the caller', async () => {
  const clock = useClock()
  const failed = await inTurns([1, 2], (item) => {
    clock.advance(100)
    return item === 1 ? Promise.reject(new Error('one')) : Promise.resolve(item)
  })
  await expect(failed[0]).rejects.toThrow('one')
  expect(await failed[1]).toBe(2)
})
