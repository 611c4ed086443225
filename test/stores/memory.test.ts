import { describe, expect, test } from 'vitest'
import { MemoryCacheStore } from '../../src/store/cache-memory.ts'
import { MemoryChangeBus } from '../../src/store/changes-memory.ts'
import { Lifetime } from '../../src/store/lifetime.ts'
import { MemoryRateStore } from '../../src/store/rates-memory.ts'
import { memory } from '../../src/stores.ts'
import { taskStoreContract } from '../../src/testing.ts'
import { KITS } from './kits.ts'

const LONG_MS = 3_600_000

describe('tasks in memory', () => {
  test.each(taskStoreContract({ open: () => memory().tasks }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

const { nodes: _, ...kits } = KITS

describe.each(Object.entries(kits))('%s in memory', (_kind, kit) => {
  test.each(kit({ open: memory }))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

test('a process that keeps everything in its memory is alone', () => {
  expect(memory().nodes).toBeUndefined()
})

test('closing the driver closes its stores', async () => {
  const driver = memory()
  await driver.close()
  const closed = expect.objectContaining({ kind: 'store_closed' })
  expect(() => driver.tasks.head('any')).toThrow(closed)
  expect(() => driver.sessions.count()).toThrow(closed)
  expect(() => driver.events.read('any', 'any', -1, 1)).toThrow(closed)
  expect(() => driver.changes.position()).toThrow(closed)
  expect(() => driver.cache.get('any')).toThrow(closed)
  expect(() => driver.rates.use('any', 1, 1)).toThrow(closed)
})

test('every answer comes at once', () => {
  const { sessions, events, changes, cache, rates } = memory()
  const session = { id: 'a', countedFor: '', fields: new Map<string, string>(), idleMs: LONG_MS }
  const room = { events: 9, bytes: 999, idleMs: LONG_MS }
  const answers = [
    sessions.create(session, { sessions: 9, freshMs: 0 }),
    sessions.use('a', undefined, LONG_MS),
    events.open('a', 's', 'node', room),
    events.append('a', 's', { text: 'b' }, room),
    events.read('a', 's', -1, 9),
    changes.publish('a'),
    changes.subscribe(
      0,
      () => {},
      () => {},
    ),
    cache.add('a', 'b', LONG_MS),
    rates.use('a', 1, LONG_MS),
  ]
  expect(answers.filter((answer) => answer instanceof Promise)).toEqual([])
})

test('the memory for messages is bounded; a subscriber that comes too late gets a gap and what is left', () => {
  const bus = new MemoryChangeBus(new Lifetime(), { events: 3, bytes: 1000 })
  for (const text of ['a', 'b', 'c', 'd', 'e']) bus.publish(text)
  expect(bus.read(1, 9)).toBeUndefined()
  const got: unknown[] = []
  bus.subscribe(
    1,
    ({ text }) => void got.push(text),
    (position) => void got.push(position),
  )
  expect(got).toEqual([2, 'c', 'd', 'e'])
  bus.publish('f'.repeat(2000))
  expect(bus.read(5, 9)).toEqual([{ position: 6, text: 'f'.repeat(2000) }])
  expect(bus.read(4, 9)).toBeUndefined()
})

test('the memory for texts is bounded; those go first whose time is over soonest', () => {
  const cache = new MemoryCacheStore(new Lifetime(), { texts: 2, chars: 20 })
  cache.set('long', '1', LONG_MS)
  cache.set('short', '2', LONG_MS / 2)
  cache.set('third', '3', LONG_MS)
  expect(['long', 'short', 'third'].map((key) => cache.get(key))).toEqual(['1', undefined, '3'])
  cache.set('large', 'x'.repeat(14), LONG_MS * 2)
  expect(['long', 'third', 'large'].map((key) => cache.get(key))).toEqual([
    undefined,
    undefined,
    'x'.repeat(14),
  ])
})

test('a long text stays although there are many others, and does not displace short ones', () => {
  const cache = new MemoryCacheStore(new Lifetime(), { texts: 1000, chars: 1_000_000 })
  cache.set('short', 's', 1000)
  for (let nth = 0; nth < 100; nth++) cache.set(`a${nth}`, 'x'.repeat(40_000), LONG_MS)
  cache.set('other', 'y'.repeat(200_000), LONG_MS + 1)
  cache.set('next', 'x'.repeat(40_000), LONG_MS + 2)
  expect(cache.get('other')).toHaveLength(200_000)
  expect(cache.get('next')).toHaveLength(40_000)
  expect(cache.get('a0')).toBeUndefined()
  cache.set('other', 'z'.repeat(1_000_001), LONG_MS)
  expect([cache.get('other'), cache.get('short')]).toEqual([undefined, 's'])
})

test('the number of counted keys is bounded', () => {
  const rates = new MemoryRateStore(new Lifetime(), 2)
  rates.use('a', 1, LONG_MS)
  rates.use('b', 1, LONG_MS * 2)
  rates.use('c', 1, LONG_MS * 2)
  expect([rates.use('b', 1, LONG_MS).isWithin, rates.use('c', 1, LONG_MS).isWithin]).toEqual([false, false])
  expect(rates.use('a', 1, LONG_MS).isWithin).toBe(true)
})

test('a long text in the cache displaces other long ones, or does not stay, so that short ones of any time are kept', () => {
  const cache = new MemoryCacheStore(new Lifetime(), { texts: 1000, chars: 100_000 })
  for (let nth = 0; nth < 100; nth++) cache.set(`short${nth}`, 'x', 1000 + nth)
  const kept = (): number =>
    Array.from({ length: 100 }, (_, nth) => cache.get(`short${nth}`)).filter(Boolean).length
  cache.set('longest', 'x'.repeat(200_000), 30_000)
  expect([cache.get('longest'), kept()]).toEqual([undefined, 100])
  for (let nth = 0; nth < 10; nth++) cache.set(`long${nth}`, 'x'.repeat(30_000), 30_000)
  const long = Array.from({ length: 10 }, (_, nth) => cache.get(`long${nth}`)).filter(Boolean)
  expect([long.length, kept()]).toEqual([3, 100])
})
