import { afterEach, expect, test, vi } from 'vitest'
import { Turns } from './next-task.ts'

afterEach(() => void vi.restoreAllMocks())

test('a turn is over after many items, or when a few took long', async () => {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const turns = new Turns()
  const itemsOfTurn = (ms: number): number => {
    for (let items = 1; ; items++) {
      now += ms
      if (turns.isOver()) return items
    }
  }
  expect(itemsOfTurn(0)).toBe(1024)
  await turns.next()
  expect(itemsOfTurn(5)).toBe(5)
  await turns.next()
  expect(itemsOfTurn(5000)).toBe(1)
})
