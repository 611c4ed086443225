import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StoredBytes } from './stored-bytes.ts'

const IDLE_MS = 60_000
/** What a field takes besides its text. */
const OVERHEAD = 128

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A field that counts so many bytes. */
function field(bytes: number): string {
  return 'x'.repeat(bytes - OVERHEAD)
}

function of(session: string, caller: string): Parameters<StoredBytes['take']>[0] {
  return { session, caller, idleMs: IDLE_MS }
}

test('a network gets three quarters of what the others leave free, and the others still get some', () => {
  const stored = new StoredBytes({ heldBytes: 10_000 })
  for (let nth = 0; nth < 7; nth++) stored.take(of(`s${nth}`, 'a'), field(1000))
  expect(() => stored.take(of('s7', 'a'), field(1000))).toThrow('10000')
  stored.take(of('t', 'b'), field(2000))
  expect(() => stored.take(of('t', 'b'), field(1000))).toThrow('10000')
  expect(stored.bytes).toBe(9_000)
})

test('bytes count until they are removed, the session ends, or the store forgets it', () => {
  const stored = new StoredBytes({ heldBytes: 10_000 })
  stored.take(of('removed', 'a'), field(300))
  stored.take(of('removed', 'a'), field(200))
  stored.free('removed', field(300))
  expect(stored.bytes).toBe(200)
  // Another node has added some.
  stored.free('removed', field(300))
  stored.free('unknown', field(300))
  expect(stored.bytes).toBe(0)
  stored.take(of('ended', 'a'), field(1000))
  stored.forget('ended')
  expect(stored.bytes).toBe(0)
  stored.take(of('idle', 'a'), field(1000))
  stored.take(of('used', 'a'), field(2000))
  vi.advanceTimersByTime(IDLE_MS / 2)
  stored.touch(of('used', 'a'))
  vi.advanceTimersByTime(IDLE_MS / 2)
  stored.take(of('new', 'a'), field(200))
  expect(stored.bytes).toBe(2200)
})

test('long names count for as long as the store remembers that they were removed', () => {
  const stored = new StoredBytes({ heldBytes: 10_000_000 })
  for (let nth = 0; nth < 100; nth++) {
    stored.take(of('s', 'a'), field(8000))
    stored.free('s', field(8000))
  }
  expect(stored.bytes).toBe(16 * 8000)
  for (let nth = 0; nth < 100; nth++) {
    stored.take(of('t', 'a'), field(1000))
    stored.free('t', field(1000))
  }
  expect(stored.bytes).toBe(16 * 8000 + 32 * 1000)
  for (const session of ['s', 't']) stored.forget(session)
  expect(stored.bytes).toBe(0)
})
