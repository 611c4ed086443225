import { expect, test } from 'vitest'
import { ownerOf, type Auth } from './call.ts'

test('a caller with a subject stays the same when its token is renewed', () => {
  const token = { iss: 'https://id.example', sub: 'ann', client_id: 'web' }
  expect(ownerOf({ ...token, exp: 1 })).toBe(ownerOf({ ...token, exp: 2, scopes: ['x'] }))
  for (const other of [{ iss: 'https://other.example' }, { sub: 'bob' }, { client_id: 'phone' }])
    expect(ownerOf({ ...token, ...other })).not.toBe(ownerOf(token))
})

test('callers of different issuers are different, whichever claim names the issuer', () => {
  const token = { issuer: 'https://id.example', sub: 'ann' }
  expect(ownerOf({ ...token, issuer: 'https://other.example' })).not.toBe(ownerOf(token))
  expect(ownerOf({ iss: 'https://id.example', sub: 'ann' })).toBe(ownerOf(token))
})

test.each([undefined, null, ''])(
  'callers with the subject %j are told apart by their other claims',
  (sub) => {
    const [ann, bob] = ['ann', 'bob'].map((email) => ownerOf({ sub, email } as Auth))
    expect(ann).not.toBe(bob)
    expect(ownerOf({ sub, email: 'ann' } as Auth)).toBe(ann)
  },
)
