import { expect, test, vi } from 'vitest'
import { MemoryEventStore } from './events-memory.ts'
import { Lifetime } from './lifetime.ts'

const ROOM = { events: 100, bytes: 1e9, idleMs: 60_000 }

function kept(store: MemoryEventStore, session: string): readonly number[] | undefined {
  return store.read(session, 'r', -1, 100)?.events.map(({ seq }) => seq)
}

test('all streams together have a limit: the largest lose their events but the newest, and then go', () => {
  const store = new MemoryEventStore(new Lifetime(), 20_000)
  const add = (session: string, size: number): void => {
    store.open(session, 'r', '1 {}', ROOM)
    store.append(session, 'r', { text: 'x'.repeat(size) }, ROOM)
  }
  add('small', 500)
  for (let nth = 0; nth < 5; nth++) add('large', 3000)
  expect([kept(store, 'small'), kept(store, 'large')]).toEqual([[0], [0, 1, 2, 3, 4]])
  let news = 0
  store.watch('large', 'r', () => news++)
  add('other', 3000)
  expect([kept(store, 'small'), kept(store, 'large'), kept(store, 'other')]).toEqual([[0], [4], [0]])
  expect(store.read('large', 'r', -1, 1)?.first).toBe(4)
  expect(news).toBe(1)
  add('one', 15_000)
  expect([kept(store, 'small'), kept(store, 'one')]).toEqual([[0], undefined])
  expect(store.bytes).toBeLessThan(20_000)
})

test('a stream counts its writer and itself, and nothing once it is gone', () => {
  const store = new MemoryEventStore(new Lifetime())
  store.open('s', 'r', `1 ${'x'.repeat(5000)}`, ROOM)
  expect(store.bytes).toBeGreaterThan(5000)
  for (let nth = 0; nth < 3; nth++) store.append('s', 'r', { text: 'x'.repeat(1000) }, ROOM)
  expect(store.bytes).toBeGreaterThan(8000)
  store.trim('s', 'r', 3)
  expect(store.bytes).toBeLessThan(6000)
  store.forget('s')
  expect(store.bytes).toBe(0)
})

test('the log of a server, which outlives all sessions, is not given up', () => {
  const store = new MemoryEventStore(new Lifetime(), 20_000)
  const room = { ...ROOM, idleMs: 30 * 86_400_000 }
  store.open('log', 'r', '', room)
  for (let nth = 0; nth < 10; nth++) store.append('log', 'r', { text: 'x'.repeat(5000) }, room)
  for (const session of ['a', 'b', 'c']) {
    store.open(session, 'r', '1 {}', ROOM)
    store.append(session, 'r', { text: 'x'.repeat(9000) }, ROOM)
  }
  expect(kept(store, 'log')).toHaveLength(10)
  expect(['a', 'b', 'c'].map((session) => kept(store, session))).toEqual([undefined, [0], [0]])
})

test('giving up a request does not copy those that were given up before', () => {
  const store = new MemoryEventStore(new Lifetime())
  store.open('s', 'r', '', ROOM)
  const add = vi.spyOn(Set.prototype, 'add')
  try {
    for (let id = 0; id < 300; id++)
      store.append('s', 'r', { text: '{}', requests: [String(id)], givesUp: true }, ROOM)
    expect(add.mock.calls.length).toBeLessThan(1000)
  } finally {
    add.mockRestore()
  }
  expect(store.append('s', 'r', { text: '{}', requests: ['0'] }, ROOM)).toBeUndefined()
})
