import { expect, test } from 'vitest'
import { isLoopback, isLoopbackAddress } from './loopback.ts'

test.each(['localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]', '0:0:0:0:0:0:0:1', '[::ffff:7f00:1]'])(
  '%s means this machine',
  (host) => expect(isLoopback(host)).toBe(true),
)

test.each([
  '',
  'localhost.example',
  'localhost:80',
  '127.0.0.1.example',
  '127.0.0.1:80',
  '127.0.0.256',
  '127.1',
  '128.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
  '[::1',
  '::1]',
  '[localhost]',
  '[::1]:80',
])('%j may mean another machine, or is not a host', (host) => expect(isLoopback(host)).toBe(false))

test('a name is not an address', () => {
  expect(['localhost', '127.0.0.1', '::1'].map(isLoopbackAddress)).toEqual([false, true, true])
})
