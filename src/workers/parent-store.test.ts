import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mcpError } from '../errors/error.ts'
import { STORE_UNREACHABLE } from '../errors/store.ts'
import { MemoryChangeBus } from '../store/changes-memory.ts'
import { Lifetime } from '../store/lifetime.ts'
import { parentStore } from './parent-store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('messages that could not be read because too much waited for the parent are read later', async () => {
  const bus = new MemoryChangeBus(new Lifetime())
  let failures = 2
  let reads = 0
  const { driver, onNews } = parentStore({
    async step(name, args) {
      expect(name).toBe('changes.read')
      reads++
      if (failures-- > 0) throw mcpError(STORE_UNREACHABLE, {})
      return bus.read(...(args as [number, number]))
    },
    watch: () => undefined,
    unwatch: () => undefined,
  })
  const heard: string[] = []
  bus.publish('one')
  const stop = await driver.changes.subscribe(
    0,
    ({ text }) => void heard.push(text),
    () => undefined,
  )
  await vi.advanceTimersByTimeAsync(10_000)
  expect(heard).toEqual(['one'])
  failures = Infinity
  bus.publish('two')
  onNews([[1, []]])
  await vi.advanceTimersByTimeAsync(1000)
  stop()
  const before = reads
  await vi.advanceTimersByTimeAsync(10_000)
  expect(reads).toBe(before)
  expect([heard, vi.getTimerCount()]).toEqual([['one'], 0])
})
