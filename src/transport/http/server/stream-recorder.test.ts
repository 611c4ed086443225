import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { mcpError } from '../../../errors/error.ts'
import { STORE_UNREACHABLE } from '../../../errors/store.ts'
import type { EventStore } from '../../../rpc/event-store.ts'
import { MemoryEventStore } from '../../../store/events-memory.ts'
import { Lifetime } from '../../../store/lifetime.ts'
import { StreamRecorder } from './stream-recorder.ts'

const ROOM = { events: 100, bytes: 1000, idleMs: 600_000 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A recorder whose store is away. */
function recorder(): { readonly made: StreamRecorder; readonly isOpen: () => boolean; back(): void } {
  const memory = new MemoryEventStore(new Lifetime())
  let isAway = true
  const events = {
    open: async (...args: Parameters<EventStore['open']>) => {
      if (isAway) throw mcpError(STORE_UNREACHABLE, { store: 'a', why: 'b' } as never)
      memory.open(...args)
    },
  } as EventStore
  const made = new StreamRecorder({
    events,
    session: 's',
    name: 'r1x1',
    writer: '1 {}',
    room: ROOM,
    onError: (error) => {
      throw error
    },
    onDone: () => undefined,
  })
  let isOpen = false
  void made.opened.then(() => (isOpen = true))
  return { made, isOpen: () => isOpen, back: () => void (isAway = false) }
}

test('a stream whose opening failed is not open before the store has it', async () => {
  const { isOpen, back } = recorder()
  await vi.advanceTimersByTimeAsync(5000)
  expect(isOpen()).toBe(false)
  back()
  await vi.advanceTimersByTimeAsync(2000)
  expect(isOpen()).toBe(true)
})

test('nobody waits for a store that stays away, for a stream that was stopped, or for one that is too large to record', async () => {
  const { isOpen } = recorder()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(isOpen()).toBe(true)
  const stopped = recorder()
  stopped.made.stop()
  await vi.advanceTimersByTimeAsync(1)
  expect(stopped.isOpen()).toBe(true)
  const large = recorder()
  large.made.record(0, 'x'.repeat(1001), false)
  await vi.advanceTimersByTimeAsync(1)
  expect(large.isOpen()).toBe(true)
})

test('a stream that is trimmed takes none of the events that wait for the store, if they are many', async () => {
  const store = new MemoryEventStore(new Lifetime())
  const kept = (name: string): readonly number[] | undefined =>
    store.read('s', name, -1, 100)?.events.map(({ seq }) => seq)
  const record = (name: string, size: number): StreamRecorder => {
    const room = { ...ROOM, bytes: 1e6 }
    const options = { session: 's', name, writer: '1 {}', room, onError: () => undefined }
    const made = new StreamRecorder({ ...options, events: store, onDone: () => undefined })
    for (let seq = 0; seq < 3; seq++) made.record(seq, 'x'.repeat(size), false)
    made.trim(3)
    made.record(3, 'later', false)
    return made
  }
  await Promise.all([record('small', 1000).done(), record('large', 30_000).done()])
  expect([kept('small'), kept('large')]).toEqual([[3], undefined])
})
