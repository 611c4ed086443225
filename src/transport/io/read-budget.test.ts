import { expect, test } from 'vitest'
import { toLimits } from '../../base/limits.ts'
import { ReadBudget, ReadPool } from './read-budget.ts'

const KB = 1024
const pool = new ReadPool(toLimits({ unparsedBytes: 1000 * KB }))

class Source {
  readonly reading: ReadBudget
  isPaused = false

  constructor(maxBytes = 400 * KB) {
    this.reading = new ReadBudget(pool, maxBytes, this)
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }
}

test('bytes are counted per message and in total, and freed', () => {
  const [one, other] = [new ReadBudget(pool, 800 * KB), new ReadBudget(pool, 800 * KB)]
  expect(one.announce(800 * KB)).toBeUndefined()
  expect(one.announce(800 * KB + 1)).toMatchObject({ kind: 'too_large' })
  expect(one.take(800 * KB)).toBeUndefined()
  expect(one.take(1)).toMatchObject({ kind: 'too_large' })
  expect(other.hold(199 * KB)).toBeUndefined()
  expect(other.hold(200 * KB)).toMatchObject({ kind: 'too_many_bytes', code: 1002 })
  one.end()
  expect(other.hold(400 * KB)).toBeUndefined()
  expect(other.hold(100 * KB)).toBeUndefined()
  expect(other.size).toBe(100 * KB)
  other.give(500 * KB)
  expect(other.size).toBe(0)
  other.end()
})

test('once half of the budget is used, large messages wait until others are read; one always continues', () => {
  const [first, second, third] = [new Source(), new Source(), new Source()]
  for (const { reading } of [first, second, third]) expect(reading.take(150 * KB)).toBeUndefined()
  expect([first, second, third].map(({ isPaused }) => isPaused)).toEqual([false, false, false])
  for (const { reading } of [first, second, third]) expect(reading.take(100 * KB)).toBeUndefined()
  // The last one is the only one that is not paused.
  expect([first, second, third].map(({ isPaused }) => isPaused)).toEqual([true, true, false])
  expect(first.reading.late()).toMatchObject({ kind: 'too_many_bytes', retryAfterMs: 1000 })
  expect(third.reading.late()).toMatchObject({ kind: 'slow_sender' })
  expect(third.reading.take(100 * KB)).toBeUndefined()
  expect(third.isPaused).toBe(false)
  third.reading.end()
  // 500 KB are left, which is half.
  expect([first, second].map(({ isPaused }) => isPaused)).toEqual([false, false])
  first.reading.end()
  second.reading.end()
})

test('a paused message that ends is removed, and the next one resumes', () => {
  const [first, second, third] = [new Source(), new Source(), new Source()]
  for (const { reading } of [first, second, third]) expect(reading.take(200 * KB)).toBeUndefined()
  expect([first, second, third].map(({ isPaused }) => isPaused)).toEqual([false, false, true])
  expect(second.reading.take(100 * KB)).toBeUndefined()
  expect(second.isPaused).toBe(true)
  third.reading.end()
  expect([second.isPaused, second.reading.isWaiting]).toEqual([false, false])
  first.reading.end()
  second.reading.end()
  expect(third.reading.isWaiting).toBe(false)
})

test('small messages never wait', () => {
  const [large, small] = [new Source(600 * KB), new Source()]
  large.reading.take(600 * KB)
  small.reading.take(60 * KB)
  expect([large.isPaused, small.isPaused]).toEqual([false, false])
  large.reading.end()
  small.reading.end()
})
