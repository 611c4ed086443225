import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { toLimits } from '../../base/limits.ts'
import type { McpError } from '../../errors/error.ts'
import { ReadBudget, ReadPool, senderOf, type Sender } from './read-budget.ts'

const KB = 1024
let pool: ReadPool

beforeEach(() => {
  pool = new ReadPool(toLimits({ unparsedBytes: 1000 * KB }))
})

class Source implements Sender {
  readonly reading: ReadBudget
  readonly #caller: unknown
  isPaused = false
  rejected: string | undefined

  constructor(maxBytes = 400 * KB, caller?: unknown) {
    this.#caller = caller
    this.reading = new ReadBudget(pool, maxBytes, this)
    onTestFinished(() => this.reading.end())
  }

  caller(): unknown {
    return this.#caller
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  reject({ kind }: McpError): void {
    this.rejected = kind
    this.reading.end()
  }
}

test('bytes are counted per message and in total, and freed', () => {
  const [one, other] = [new ReadBudget(pool, 800 * KB), new ReadBudget(pool, 800 * KB)]
  expect(one.announce(800 * KB)).toBeUndefined()
  expect(one.announce(800 * KB + 1)).toMatchObject({ kind: 'too_large' })
  expect(one.take(800 * KB)).toBeUndefined()
  expect(one.take(1)).toMatchObject({ kind: 'too_large' })
  const small = [1, 2, 3].map(() => new ReadBudget(pool, 800 * KB))
  for (const budget of small) expect(budget.take(64 * KB)).toBeUndefined()
  expect(other.hold(7 * KB)).toBeUndefined()
  expect(other.hold(8 * KB)).toMatchObject({ kind: 'too_many_bytes', code: 1002 })
  for (const budget of [one, ...small]) budget.end()
  expect(other.hold(400 * KB)).toBeUndefined()
  expect(other.hold(100 * KB)).toBeUndefined()
  expect(other.size).toBe(100 * KB)
  other.give(500 * KB)
  expect([other.size, pool.total]).toEqual([0, 0])
})

test('once half of the budget is used, large messages beyond their share wait for each other; one always continues', () => {
  const [first, second, third] = [new Source(), new Source(), new Source()]
  for (const { reading } of [first, second, third]) expect(reading.take(150 * KB)).toBeUndefined()
  expect([first, second, third].map(({ isPaused }) => isPaused)).toEqual([false, false, false])
  for (const { reading } of [first, second, third]) expect(reading.take(100 * KB)).toBeUndefined()
  expect([first, second, third].map(({ isPaused }) => isPaused)).toEqual([false, true, true])
  expect(second.reading.late()).toMatchObject({ kind: 'too_many_bytes', retryAfterMs: 1000 })
  expect(first.reading.late()).toMatchObject({ kind: 'slow_sender' })
  expect(first.reading.take(100 * KB)).toBeUndefined()
  expect(first.isPaused).toBe(false)
  first.reading.end()
  // 500 KB are left, which is half.
  expect([second, third].map(({ isPaused }) => isPaused)).toEqual([false, false])
})

test('a paused message that ends is removed, and the next one resumes', () => {
  const [first, second, third] = [new Source(500 * KB), new Source(), new Source()]
  first.reading.take(500 * KB)
  for (const { reading } of [second, third]) expect(reading.take(150 * KB)).toBeUndefined()
  expect([second, third].map(({ isPaused }) => isPaused)).toEqual([false, true])
  second.reading.end()
  expect([third.isPaused, third.reading.isWaiting]).toEqual([false, false])
  expect(second.reading.take(150 * KB)).toBeUndefined()
  expect(second.isPaused).toBe(true)
  second.reading.end()
  expect(second.reading.isWaiting).toBe(false)
})

test('small messages never wait', () => {
  const [large, small] = [new Source(600 * KB), new Source()]
  large.reading.take(600 * KB)
  small.reading.take(60 * KB)
  expect([large.isPaused, small.isPaused]).toEqual([false, false])
})

test('a caller with many messages does not make those of others wait', () => {
  const greedy = [1, 2, 3].map(() => new Source(400 * KB, 'greedy'))
  for (const { reading } of greedy) expect(reading.take(175 * KB)).toBeUndefined()
  for (const { reading } of greedy) expect(reading.take(1 * KB)).toBeUndefined()
  expect(greedy.map(({ isPaused }) => isPaused)).toEqual([true, true, false])
  const [other, own] = [new Source(400 * KB, 'other'), new Source(400 * KB, 'greedy')]
  for (const { reading } of [other, own]) expect(reading.take(25 * KB)).toBeUndefined()
  for (const { reading } of [other, own]) expect(reading.take(41 * KB)).toBeUndefined()
  expect([other.isPaused, own.isPaused]).toEqual([false, true])
})

test('where reading cannot pause, a message beyond its share is rejected, and large ones leave room for small ones', () => {
  const budgets = Array.from({ length: 40 }, () => new ReadBudget(pool, 400 * KB))
  const refused = budgets.map((budget) => {
    let problem: McpError | undefined
    while (problem === undefined && budget.size < 300 * KB) problem = budget.take(10 * KB)
    if (problem !== undefined) budget.give(10 * KB)
    return problem?.kind
  })
  // The first ones find half of the budget free; then one at a time may exceed its share.
  expect(refused.slice(0, 3)).toEqual([undefined, undefined, 'too_many_bytes'])
  expect(refused.slice(2).every((kind) => kind === 'too_many_bytes')).toBe(true)
  budgets.forEach((budget) => budget.end())
  expect(pool.total).toBe(0)
})

test('while room is short, messages of which nothing arrives are rejected, but not those that wait', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const [stalled, steady, waiting] = [new Source(600 * KB), new Source(), new Source()]
  stalled.reading.take(400 * KB)
  vi.advanceTimersByTime(60_000)
  expect(stalled.rejected).toBeUndefined()
  stalled.reading.take(101 * KB)
  steady.reading.take(10 * KB)
  waiting.reading.take(150 * KB)
  waiting.reading.take(1)
  for (let second = 0; second < 3; second++) {
    vi.advanceTimersByTime(1000)
    steady.reading.take(1)
  }
  expect(stalled.rejected).toBeUndefined()
  vi.advanceTimersByTime(1000)
  expect([stalled.rejected, steady.rejected, waiting.rejected]).toEqual(['slow_sender', undefined, undefined])
  expect(waiting.isPaused).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})

test('a message counts for the authenticated caller, or else for the address, or else for the connection', () => {
  const connection = {}
  expect(senderOf({ auth: { clientId: 'ann' } as never, ip: '192.0.2.1' }, connection)).not.toBe('192.0.2.1')
  expect(senderOf({ ip: '192.0.2.1' }, connection)).toBe('192.0.2.1')
  const [one, same, other] = ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:1::1']
  expect(senderOf({ ip: one }, connection)).toBe(senderOf({ ip: same }, connection))
  expect(senderOf({ ip: one }, connection)).not.toBe(senderOf({ ip: other }, connection))
  expect(senderOf({}, connection)).toBe(connection)
})
