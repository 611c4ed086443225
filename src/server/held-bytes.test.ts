import { expect, onTestFinished, test, vi } from 'vitest'
import { Call, type RequestSource } from '../rpc/call.ts'
import { Questions } from '../rpc/questions.ts'
import { HeldBytes, holderOf } from './held-bytes.ts'

/** A request of its own, from an address. */
function callFrom(ip: string | undefined): Call {
  const peer = {} as unknown as Call['peer']
  const source: RequestSource = { ip }
  return new Call(1, 'tools/call', {}, { peer, channel: { emit: () => undefined }, source })
}

/** How many of so many requests succeed. */
function countOf(ips: readonly (string | undefined)[], take: (call: Call) => void): number {
  return ips.filter((ip) => {
    try {
      take(callFrom(ip))
      return true
    } catch {
      return false
    }
  }).length
}

const SAME = Array.from({ length: 200 }, () => '10.0.0.1')
const IN_ONE_NETWORK = Array.from({ length: 200 }, (_, at) => `2001:db8::${(at + 1).toString(16)}`)

test.each([
  ['an address', SAME],
  ['an IPv6 network', IN_ONE_NETWORK],
])('L.addresses many callers of %s give way to one of another, which keeps what it has', (_, ips) => {
  const held = new HeldBytes(1000)
  const ended: string[] = []
  const take = (bytes: number) => (call: Call) => {
    const holder = holderOf(call)
    held.take(holder, bytes)
    held.evictors.set(holder, () => {
      held.evictors.delete(holder)
      held.free(holder, bytes)
      ended.push(String(call.source.ip))
    })
  }
  countOf([...ips, ...ips, ...ips, ...ips, ...ips], take(1))
  expect(countOf(['10.0.0.2'], take(100))).toBe(1)
  countOf([...ips, ...ips, ...ips, ...ips, ...ips], take(1))
  expect(ended.length).toBeGreaterThan(0)
  expect(ended).not.toContain('10.0.0.2')
})

test('L.addresses refusals do not look at all holders each time, and whoever holds less is still let in', () => {
  const held = new HeldBytes(100_000)
  const take = (ip: string, bytes: number): unknown => {
    const holder = holderOf(callFrom(ip))
    held.take(holder, bytes)
    held.evictors.set(holder, () => {
      held.evictors.delete(holder)
      held.free(holder, bytes)
    })
    return holder
  }
  for (let at = 0; at < 1000; at++) take('10.0.0.1', 70)
  const large = take('10.0.0.1', 1500)
  const { [Symbol.iterator]: iterate } = Map.prototype
  let looks = 0
  Map.prototype[Symbol.iterator] = function () {
    if (this.size >= 900) looks++
    return iterate.call(this) as MapIterator<[unknown, unknown]>
  }
  onTestFinished(() => void (Map.prototype[Symbol.iterator] = iterate))
  for (let at = 0; at < 500; at++) {
    expect(() => held.take(large, 6000 - at)).toThrow('no room')
    // What others do meanwhile changes nothing.
    held.free(large, 1)
    held.take(large, 1)
  }
  expect(looks).toBeLessThan(10)
  expect(() => take('10.0.0.2', 9000)).not.toThrow()
})

test('L.addresses whoever was refused is let in once another can be evicted, a second later at most', () => {
  const held = new HeldBytes(1000)
  const [one, other] = ['10.0.0.1', '10.0.0.1'].map((ip) => holderOf(callFrom(ip)))
  held.take(one, 240)
  for (let at = 0; at < 10; at++) held.take(holderOf(callFrom('10.0.0.1')), 51)
  expect(() => held.take(other, 55)).toThrow('no room')
  held.evictors.set(one, () => held.free(one, 240))
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 1000)
  onTestFinished(() => void vi.restoreAllMocks())
  expect(() => held.take(other, 55)).not.toThrow()
})

test('callers without an address hold bytes as before', () => {
  const held = new HeldBytes(100)
  const nowhere = Array.from({ length: 200 }, () => undefined)
  expect(countOf(nowhere, (call) => held.take(holderOf(call), 1))).toBeGreaterThan(75)
})

test.each([
  ['an address', SAME],
  ['an IPv6 network', IN_ONE_NETWORK],
])('L.addresses many sessions of %s ask at most its share of questions', (_, ips) => {
  const questions = new Questions()
  const ask = (call: Call): void => void questions.begin(Object.assign(call, { peer: { session: {} } }), 100)
  expect(countOf(ips, ask)).toBe(75)
  expect(countOf(['10.0.0.2', '2001:db8:1::1'], ask)).toBe(2)
})
