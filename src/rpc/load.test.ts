import { expect, test } from 'vitest'
import { Load, type Holder } from './load.ts'

const LIMIT = 1_000_000
const limits = { inFlightBytes: LIMIT }

/** Requests that run until the test ends: as many messages of a size as a caller gets in. */
function fill(load: Load, bytes: number, holder: Holder): number {
  let count = 0
  while (count < 1000 && load.refusalFor(bytes, limits, holder) === undefined) {
    load.enter({ isCounted: false }, holder.caller, bytes, holder.network)
    count++
  }
  return count
}

const from = (network: string, caller: unknown = {}): Holder => ({ caller, network })

test('H.flight-share one caller gets a share of the memory for messages, and leaves room for others', () => {
  const load = new Load()
  fill(load, 10_000, from('a', 'greedy'))
  expect(load.bytes).toBeGreaterThan(LIMIT / 5)
  expect(load.bytes).toBeLessThanOrEqual(LIMIT / 4)
  expect(load.refusalFor(500_000, limits, from('b'))).toBeUndefined()
  // Of those with a login, no network counts.
  const ann = { caller: 'ann', network: undefined }
  const before = load.bytes
  fill(load, 10_000, ann)
  expect(load.bytes - before).toBeLessThanOrEqual((LIMIT - before) / 4)
})

test('H.flight-share the callers of a network get a share together, however many they are', () => {
  const load = new Load()
  for (let caller = 0; caller < 100; caller++) fill(load, 20_000, from('a', caller))
  expect(load.bytes).toBeGreaterThan(LIMIT / 2)
  expect(load.bytes).toBeLessThan(0.85 * LIMIT)
  expect(load.refusalFor(100_000, limits, from('a', 'another'))).toMatchObject({ kind: 'too_much_in_flight' })
  expect(load.refusalFor(100_000, limits, from('b'))).toBeUndefined()
})

test('the only large message of a caller needs no share, even beside small ones', () => {
  const load = new Load()
  const [ann, bob] = [from('a'), from('b')]
  load.enter({ isCounted: false }, bob.caller, 400_000, bob.network)
  load.enter({ isCounted: false }, ann.caller, 1000, ann.network)
  const entry = { isCounted: false }
  expect(load.refusalFor(500_000, limits, ann)).toBeUndefined()
  load.enter(entry, ann.caller, 500_000, ann.network)
  expect(load.refusalFor(20_000, limits, ann)).toMatchObject({ kind: 'too_much_in_flight' })
  expect(load.refusalFor(1024, limits, ann)).toBeUndefined()
  load.leave(entry, ann.caller, 500_000)
  expect(load.refusalFor(500_000, limits, ann)).toBeUndefined()
})
