import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import { RecentPages } from './recent-pages.ts'

const ROOM = { events: 1000, bytes: 100_000_000, idleMs: 600_000 }
const LARGE = 'x'.repeat(1_000_000)

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function start(): {
  events: MemoryEventStore
  pages: RecentPages
  reads: () => number
  add(text: string): void
} {
  const events = new MemoryEventStore(new Lifetime())
  events.open('s', 'r', 'w', ROOM)
  const read = vi.spyOn(events, 'read')
  const add = (text: string): void => void events.append('s', 'r', { text }, ROOM)
  return { events, pages: new RecentPages(events), reads: () => read.mock.calls.length, add }
}

const from = (after: number): { session: string; stream: string; after: number } => ({
  session: 's',
  stream: 'r',
  after,
})
const there = { caller: 'a', isWanted: () => true }

test('a large page is read once a second, and says that more may follow', async () => {
  const { pages, reads, add } = start()
  add(LARGE)
  expect(await pages.read(from(-1))).toMatchObject({ isRecent: false, page: { isOver: false } })
  add('more')
  for (let nth = 0; nth < 10; nth++) {
    const read = await pages.read(from(-1))
    expect([read?.isRecent, read?.page?.events.map(({ seq }) => seq)]).toEqual([true, [0]])
  }
  expect(reads()).toBe(1)
  expect(await pages.read(from(0))).toMatchObject({
    isRecent: false,
    page: { events: [{ seq: 1, text: 'more' }] },
  })
  vi.advanceTimersByTime(2000)
  expect((await pages.read(from(-1)))?.page?.events).toHaveLength(2)
})

test('small pages are not kept, so that no event is late', async () => {
  const { pages, reads, add } = start()
  for (let nth = 0; nth < 3; nth++) {
    add('a')
    expect((await pages.read(from(-1)))?.page?.events).toHaveLength(nth + 1)
  }
  expect(reads()).toBe(3)
})

test('what is kept has a limit, and the oldest goes first', async () => {
  const { pages, reads, add } = start()
  for (let nth = 0; nth < 12; nth++) add(LARGE)
  // One, two and three of them.
  for (const after of [10, 9, 8, 10, 9, 8]) await pages.read(from(after))
  expect(reads()).toBe(3)
  // Four more are too many.
  for (const after of [7, 8, 7]) await pages.read(from(after))
  expect(reads()).toBe(4)
  for (const after of [10, 9]) await pages.read(from(after))
  expect(reads()).toBe(6)
})

test('a caller whose clients resume much waits, and one that leaves meanwhile reads nothing; others do not wait', async () => {
  const { pages, reads, add } = start()
  for (let nth = 0; nth < 9; nth++) add(LARGE)
  await pages.read(from(4), there)
  expect(reads()).toBe(1)
  let isWanted = true
  const left = pages.read(from(5), { caller: 'a', isWanted: () => isWanted })
  const patient = pages.read(from(6), there)
  await pages.read(from(7), { ...there, caller: 'b' })
  expect(reads()).toBe(2)
  isWanted = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(await left).toBeUndefined()
  expect((await patient)?.page?.events).toHaveLength(2)
  expect(reads()).toBe(3)
})
