import { expect, test } from 'vitest'
import { servedHosts } from './checks.ts'

test.each(['localhost', '127.0.0.1', '::1', '127.0.0.2', '127.255.255.254'])(
  'clients of a server on %s may use every name of this machine',
  (host) => expect(servedHosts('listen', host, undefined)).toEqual(['loopback']),
)

test.each([
  '0.0.0.0',
  '::',
  '192.0.2.1',
  '127.0.0.1.example',
  'x127.0.0.1',
  '128.0.0.1',
  'localhost.example',
  '',
])('other machines can reach a server on %j, so its hosts must be named', (host) => {
  expect(() => servedHosts('listen', host, undefined)).toThrow(/^listen: .*name the hosts/)
  expect(servedHosts('listen', host, ['mcp.example'])).toEqual(['mcp.example'])
})

test('named hosts replace the default ones, on loopback too', () => {
  expect(servedHosts('listen', '127.0.0.1', ['mcp.example'])).toEqual(['mcp.example'])
})
