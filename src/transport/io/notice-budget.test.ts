import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventRoom } from '../../rpc/event-store.ts'
import { MemoryEventStore } from '../../store/events-memory.ts'
import { Lifetime } from '../../store/lifetime.ts'
import { NoticeBudget, type NoticeStream } from './notice-budget.ts'

const ROOM: EventRoom = { events: 500, bytes: 100_000, idleMs: 60_000 }
const LIMIT = 400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Setting {
  readonly budget: NoticeBudget
  readonly events: MemoryEventStore
  /** Adds events of a size to the stream of a session. */
  add(session: string, caller: string, size: number, count?: number): Promise<void>
  /** The bytes that the store keeps of some sessions. */
  kept(...sessions: readonly string[]): number
}

function toSetting(): Setting {
  const budget = new NoticeBudget({ unsentBytes: LIMIT })
  const events = new MemoryEventStore(new Lifetime())
  const kept = (...sessions: readonly string[]): number =>
    sessions
      .flatMap((session) => events.read(session, 's', -1, 10_000)?.events ?? [])
      .reduce((sum, { text }) => sum + text.length, 0)
  const add: Setting['add'] = async (session, caller, size, count = 1) => {
    const stream: NoticeStream = { session, caller, trim: (before) => events.trim(session, 's', before) }
    for (let nth = 0; nth < count; nth++) {
      events.open(session, 's', '', ROOM)
      await budget.add(stream, 'x'.repeat(size), ROOM, (room) =>
        events.append(session, 's', { text: 'x'.repeat(size) }, room),
      )
    }
  }
  return { budget, events, add, kept }
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, nth) => `s${nth}`)

test('one caller gets a quarter of the limit, however many sessions it has, and each keeps its newest events', async () => {
  const { budget, add, kept } = toSetting()
  for (let round = 0; round < 50; round++) for (const session of names(40)) await add(session, 'ann', 1000)
  expect(kept(...names(40))).toBeGreaterThan(40 * 1000)
  expect(kept(...names(40))).toBeLessThan(LIMIT / 4 + 40 * 4096)
  expect(budget.bytes).toBeGreaterThanOrEqual(kept(...names(40)))
  for (const session of names(40)) expect(kept(session)).toBeGreaterThan(0)
})

test('a caller finds room although others have taken their shares', async () => {
  const { add, kept } = toSetting()
  for (const caller of names(4)) await add(caller, caller, 1000, 200)
  await add('mine', 'me', 200, 50)
  expect(kept('mine')).toBe(50 * 200)
})

test('an event that is larger than its share replaces all others', async () => {
  const { budget, add, kept } = toSetting()
  await add('s', 'ann', 1000, 20)
  await add('s', 'ann', 150_000)
  expect(kept('s')).toBe(150_000)
  await add('s', 'ann', 1000)
  expect(kept('s')).toBe(1000)
  expect(budget.bytes).toBeLessThanOrEqual(LIMIT / 4)
})

test('what a session had counts until it ends, or until the store has forgotten it', async () => {
  const { budget, add, events, kept } = toSetting()
  await add('one', 'ann', 1000, 10)
  await add('two', 'bob', 1000, 10)
  budget.forget('one')
  budget.forget('one')
  expect(Math.round(budget.bytes)).toBe(10 * 1128)
  vi.advanceTimersByTime(40_000)
  budget.touch('two', ROOM)
  budget.touch('none', ROOM)
  // Another node keeps the session alive.
  events.open('two', 's', '', { ...ROOM, idleMs: 600_000 })
  vi.advanceTimersByTime(59_000)
  await add('three', 'eve', 100)
  expect([Math.round(budget.bytes), kept('two')]).toEqual([10 * 1128 + 228, 10_000])
  vi.advanceTimersByTime(2000)
  await add('three', 'eve', 100)
  expect([Math.round(budget.bytes), kept('two')]).toEqual([2 * 228, 0])
})

test('a stream with many small events counts what it keeps of them', async () => {
  const { budget, add } = toSetting()
  await add('s', 'ann', 10, 3000)
  expect(Math.round(budget.bytes)).toBe(500 * 138)
})

test('events that another node has added count as well', async () => {
  const { budget, events } = toSetting()
  const stream: NoticeStream = { session: 's', caller: 'ann', trim: () => undefined }
  events.open('s', 's', '', ROOM)
  for (let position = 1; position <= 3; position++) {
    events.append('s', 's', { text: 'x'.repeat(100), position }, ROOM)
    await budget.add(stream, 'x'.repeat(100), ROOM, (room) =>
      events.append('s', 's', { text: 'x'.repeat(100), position }, room),
    )
  }
  expect(Math.round(budget.bytes)).toBe(3 * 228)
})

test('a store that fails is not counted', async () => {
  const { budget } = toSetting()
  const stream: NoticeStream = { session: 's', caller: 'ann', trim: () => undefined }
  const failing = budget.add(stream, 'text', ROOM, () => Promise.reject(new Error('away')))
  await expect(failing).rejects.toThrow('away')
  expect(budget.bytes).toBe(0)
})
