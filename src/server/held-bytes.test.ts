import { expect, test } from 'vitest'
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
