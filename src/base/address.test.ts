import { BlockList, isIP } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAddress, readRange } from './address.ts'

test.each<readonly [string | undefined, string | undefined]>([
  ['10.1.2.3', '10.1.2.3'],
  ['10.1.2.3:4711', '10.1.2.3'],
  ['::1', '::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::FFFF:10.1.2.3', '10.1.2.3'],
  ['fe80::1%eth0', 'fe80::1'],
  // One address in several spellings.
  ...['::ffff:a01:203', '0:0:0:0:0:ffff:10.1.2.3', '::FFFF:0A01:0203', '[::ffff:a01:203]:80'].map(
    (text) => [text, '10.1.2.3'] as const,
  ),
  ...['2001:DB8::1', '2001:db8:0:0::1', '2001:0db8:0000:0000:0000:0000:0000:0001'].map(
    (text) => [text, '2001:db8::1'] as const,
  ),
  // The examples of RFC 5952.
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ...[
    undefined,
    '',
    'unknown',
    '_hidden',
    '10.1.2',
    '10.1.2.256',
    '010.1.2.3',
    '1.2.3.4.5',
    '10.1.2.3/8',
  ].map((text) => [text, undefined] as const),
  ...[':::', '1::2::3', '[::1', '::1]', '[::1]x', 'g::', '12345::', '::1:2:3:4:5:6:7:8:9', '[10.1.2.3'].map(
    (text) => [text, undefined] as const,
  ),
])('the address %j is %j', (text, address) => {
  expect(readAddress(text)).toBe(address)
})

test.each([
  ['10.0.0.0/8', '10.255.0.1', '11.0.0.1'],
  ['10.1.2.3', '10.1.2.3', '10.1.2.4'],
  ['192.168.4.0/22', '192.168.7.255', '192.168.8.0'],
  ['0.0.0.0/0', '255.255.255.255', '::1'],
  ['::/0', '2001:db8::1', '10.0.0.1'],
  ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::1'],
  ['::1', '0:0:0:0:0:0:0:1', '::2'],
  ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.2'],
  ['10.0.0.0/8', '::ffff:a01:101', '::ffff:b01:101'],
])('the range %s has %s, and not %s', (range, inside, outside) => {
  expect([inside, outside].map(readRange(range) as never)).toEqual([true, false])
})

test.each([
  '',
  'loopback',
  '::ffff:10.0.0.0/8',
  '::ffff:10.0.0.0/104',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '::/129',
  '/8',
  '10.0.0.0/8/8',
  '*',
  'a.example',
])('%j is not a range', (text) => {
  expect(readRange(text)).toBeUndefined()
})

test('ranges and addresses agree with those of Node', () => {
  const pairs = fc.oneof(
    fc.tuple(fc.constant('ipv4' as const), fc.ipV4(), fc.ipV4(), fc.nat(32)),
    fc.tuple(fc.constant('ipv6' as const), fc.ipV6(), fc.ipV6(), fc.nat(128)),
  )
  fc.assert(
    fc.property(pairs, ([family, one, other, bits]) => {
      const list = new BlockList()
      list.addSubnet(one, bits, family)
      const inRange = readRange(`${one}/${bits}`)
      const own = [one, other].map((address) => inRange?.(address))
      expect(own).toEqual([one, other].map((address) => list.check(address, family)))
    }),
  )
})

test('an address has one spelling', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(65_535), { minLength: 8, maxLength: 8 }), fc.nat(7), (groups, zeros) => {
      const all = groups.map((group, at) => (at < zeros ? 0 : group).toString(16))
      const long = all.map((group) => group.padStart(4, '0').toUpperCase()).join(':')
      const short = readAddress(all.join(':')) as string
      expect([readAddress(long), readAddress(short), isIP(short) > 0]).toEqual([short, short, true])
    }),
  )
})
