import { expect, test } from 'vitest'
import { readNeed } from '../../src/auth/client/need.ts'

function needOf(status: number, challenge?: string): ReturnType<typeof readNeed> {
  return readNeed({
    status,
    headers: new Headers(challenge === undefined ? {} : { 'www-authenticate': challenge }),
  })
}

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource'

test.each([
  'Bearer, DPoP error="insufficient_scope", scope="a b", resource_metadata="URL"',
  'DPoP error="insufficient_scope", scope="a b", resource_metadata="URL", Bearer',
  'Bearer error="insufficient_scope", scope="a b", DPoP resource_metadata="URL"',
  'DPoP algs="ES256", Bearer error="insufficient_scope", scope="a b", resource_metadata="URL"',
])('what a server asks for is found in either of two challenges: %s', (text) => {
  expect(needOf(403, text.replace('URL', METADATA))).toEqual({
    kind: 'scopes',
    status: 403,
    scopes: ['a', 'b'],
    metadataUrl: METADATA,
    wantsDpop: false,
  })
})

test('if both challenges say something, that for bearer tokens counts', () => {
  const need = needOf(401, 'DPoP error="invalid_token", scope="c", Bearer scope="a"')
  expect(need).toMatchObject({ kind: 'token', scopes: ['a'], wantsDpop: false })
})

test.each([
  [403, undefined],
  [403, 'Basic error="insufficient_scope", scope="a"'],
  [403, 'Bearer error="invalid_token", DPoP error="insufficient_scope"'],
  [200, 'Bearer error="insufficient_scope"'],
])('with status %i and the challenge %j, other credentials would not help', (status, challenge) => {
  expect(needOf(status, challenge)).toBeUndefined()
})

test('other schemes say nothing, and DPoP alone asks for bound tokens', () => {
  expect(needOf(401, 'Basic scope="a"')).toMatchObject({
    kind: 'token',
    scopes: undefined,
    metadataUrl: undefined,
  })
  expect(needOf(401, 'DPoP scope="a"')).toMatchObject({ scopes: ['a'], wantsDpop: true })
})

test('a scope that is named several times counts once, and no more than 1000 are read', () => {
  const named = (text: string): unknown => needOf(403, `Bearer error="insufficient_scope", scope="${text}"`)
  expect(named('z '.repeat(7000))).toMatchObject({ scopes: ['z'] })
  const many = Array.from({ length: 1001 }, (_, at) => `s${at}`)
  expect(named(many.join(' '))).toMatchObject({ scopes: many.slice(0, 1000) })
})
