import { expect, test } from 'vitest'
import { placeOf, placeOfHost, type Place } from './places.ts'

test.each<readonly [string, Place]>([
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::1%lo', 'loopback'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['100.127.255.255', 'private'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['::ffff:10.0.0.1', 'private'],
  ['1.1.1.1', 'public'],
  ['93.184.215.14', 'public'],
  ['172.32.0.1', 'public'],
  ['100.128.0.1', 'public'],
  ['2606:4700:4700::1111', 'public'],
  // Networks that have only IPv6 reach public IPv4 addresses in this way.
  ['64:ff9b::101:101', 'public'],
])('the address %s is %s', (address, place) => {
  expect(placeOf(address)).toBe(place)
})

test.each([
  '0.0.0.0',
  '169.254.169.254',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:0:127.0.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::',
  '3fff::1',
  '5f00::1',
  '4000::1',
  '64:ff9b::7f00:1',
  '64:ff9b::a00:1',
  '64:ff9b:1::1',
  '64:ff9b:1:ffff::7f00:1',
  // What cannot be read is never public.
  '',
  'example.com',
  '010.0.0.1',
  '2130706433',
])('the address %j is special', (address) => {
  expect(placeOf(address)).toBe('special')
})

test.each<readonly [string, Place | undefined]>([
  ['http://localhost', 'loopback'],
  ['http://LOCALHOST.', 'loopback'],
  ['http://api.localhost', 'loopback'],
  ['http://127.0.0.1.', 'loopback'],
  ['http://2130706433', 'loopback'],
  ['http://0177.0.0.1', 'loopback'],
  ['http://0x7f.1', 'loopback'],
  ['http://１２７.０.０.１', 'loopback'],
  ['http://①②⑦.0.0.1', 'loopback'],
  ['http://[::1]', 'loopback'],
  ['http://[::ffff:127.0.0.1]', 'loopback'],
  ['http://[::127.0.0.1]', 'special'],
  ['http://192.168.0.1', 'private'],
  ['http://1.1.1.1', 'public'],
  ['http://intranet', 'private'],
  ['http://printer.local', 'private'],
  ['http://idp.corp.internal.', 'private'],
  ['http://box.home.arpa', 'private'],
  ['http://example.com', undefined],
  ['http://localhost.example.com', undefined],
  ['http://127.0.0.1.example.com', undefined],
  ['http://notlocal', 'private'],
  ['http://mylocalhost.com', undefined],
])('the host of %s is %s', (url, place) => {
  expect(placeOfHost(new URL(url).hostname)).toBe(place)
})
