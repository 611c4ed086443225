import { expect, onTestFinished, test, vi } from 'vitest'
import { throttle } from './throttle.ts'

test('reports at most once a second, with the number of suppressed reports', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const told: [string, number][] = []
  const tell = throttle((fact: string, more) => told.push([fact, more]))
  for (const fact of ['a', 'b', 'c']) tell(fact)
  vi.advanceTimersByTime(1001)
  tell('d')
  expect(told).toEqual([
    ['a', 0],
    ['d', 2],
  ])
})
