import { expect, test } from 'vitest'
import { readHeader } from './token-header.ts'

function tokenWith(header: string): string {
  return `${Buffer.from(header).toString('base64url')}.e30.AAAA`
}

test.each([
  ['very many objects', `[${'{},'.repeat(3000)}0]`],
  [
    'very many members',
    JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, nth) => [nth, 0]))),
  ],
  ['lists in lists', '['.repeat(5000) + ']'.repeat(5000)],
])('a header with %s is not read', (_, value) => {
  expect(readHeader(tokenWith(`{"alg":"ES256","more":${value}}`))).toBeUndefined()
})

test('a header with a chain of certificates is read', () => {
  const header = { alg: 'ES256', kid: 'one', x5c: Array.from({ length: 4 }, () => 'A'.repeat(2000)) }
  expect(readHeader(tokenWith(JSON.stringify(header)))).toEqual(header)
})

test('what is not a header is not read', () => {
  for (const text of ['', 'null', '[]', '"text"', '{']) expect(readHeader(tokenWith(text))).toBeUndefined()
})
