import { expect, test } from 'vitest'
import { readForwarded, readTrust, type Trust } from './proxy.ts'

const INNER = '10.0.0.1'

/** What is believed of a chain of addresses, and how many of them were looked at. */
function believed(
  chain: string,
  trusts: Trust,
): { readonly ip: string | undefined; readonly looked: number } {
  let looked = 0
  const counting: Trust = (address, hop) => {
    looked++
    return trusts(address, hop)
  }
  const { ip } = readForwarded(counting, INNER, (name) => (name === 'x-forwarded-for' ? chain : undefined))
  return { ip, looked }
}

test('a chain of trusted proxies is believed up to 32, however long it is', () => {
  const trusts = readTrust(['10.0.0.0/8', 'fc00::/7']) as Trust
  const chain = (hops: number): string =>
    `6.6.6.6, ${Array.from({ length: hops }, (_, at) => `10.0.1.${at}`).join(', ')}`
  expect(believed(chain(31), trusts).ip).toBe('6.6.6.6')
  expect(believed(chain(32), trusts).ip).toBe('10.0.1.0')
  const long = believed(`6.6.6.6, ${'fd00:0:0:0:0:0:0:1, '.repeat(820)}`, trusts)
  expect(long.ip).toBe('fd00::1')
  expect(long.looked).toBeLessThan(40)
})

test('a number of proxies is believed as it is', () => {
  const trusts = readTrust(40) as Trust
  expect(believed(`6.6.6.6, ${'10.0.0.2, '.repeat(39)}`, trusts).ip).toBe('6.6.6.6')
})

test('a text that is too long is not an address', () => {
  const trusts = readTrust(['10.0.0.0/8']) as Trust
  expect(believed(`6.6.6.6, ${'0'.repeat(16_000)}`, trusts).ip).toBeUndefined()
  expect(believed(`[::1%${'z'.repeat(200)}]`, trusts).ip).toBeUndefined()
})
