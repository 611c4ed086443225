import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IssuerError } from '../../src/auth/issuer-fetch.ts'
import { verifyJwt, type JwtRules } from '../../src/auth/jwt.ts'
import { oauth } from '../../src/auth/oauth.ts'
import { ownerOf } from '../../src/rpc/call.ts'
import type { Accepted, AuthMethod, Verdict } from '../../src/transport/http/server/auth-method.ts'
import { HOSTILE_TOKENS, openWorkshop, seconds, type Workshop } from './hostile-tokens.ts'
import { serve } from './serve.ts'
import { startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
/** The hostile tokens by the reason for which each is rejected. */
const REASONS: Readonly<Record<string, string>> = {
  'left to other methods':
    'A.garbage A.garbage-parts A.parts-two A.parts-five A.iss-missing A.iss-other A.iss-slash ' +
    'A.iss-list A.iss-trap A.payload-list A.payload-text A.payload-null A.payload-truncated ' +
    'A.payload-proto A.payload-deep A.payload-utf8',
  'its algorithm is not accepted':
    'A.alg-none A.alg-none-title A.alg-none-upper A.alg-none-signed A.alg-missing A.alg-list A.hs-rs ' +
    'A.hs-jwk A.hs-empty A.hs-no-kid',
  'its signature is wrong':
    'A.key-wrong A.signature-stripped A.signature-flipped A.signature-bits A.signature-zero ' +
    'A.payload-swapped A.header-swapped A.jwk A.jku A.x5u A.x5c',
  'its issuer has no such key': 'A.alg-other A.kid-long A.kid-empty',
  'its key is not known yet': 'A.kid-unknown A.kid-path A.kid-sql A.kid-proto',
  'it does not say which key of the issuer signed it': 'A.kid-none',
  'it is malformed': 'A.crit A.crit-b64',
  'it is not an access token':
    'A.typ-logout A.typ-dpop A.typ-odd A.id-type A.id-nonce A.id-at-hash A.id-c-hash A.id-keycloak A.id-client',
  'it is meant for another server':
    'A.aud-missing A.aud-other A.aud-prefix A.aud-slash A.aud-case A.aud-list A.aud-nested ' + 'A.aud-object',
  'it expired': 'A.expired A.exp-negative A.clock-behind',
  'it does not say when it expires': 'A.exp-missing',
  'its exp, nbf or iat is not a time in seconds':
    'A.exp-text A.exp-null A.exp-milliseconds A.exp-infinite A.nbf-text A.iat-odd',
  'it is not valid yet': 'A.not-yet A.iat-future A.clock-ahead',
  'it has no subject': 'A.sub-missing A.sub-number A.sub-empty',
  'its scopes are not text': 'A.scope-odd',
  'it is bound in a way that this server does not know': 'A.cnf-odd A.cnf-unknown',
}

let issuer: SmallIssuer
let method: AuthMethod
let workshop: Workshop
let trap: Awaited<ReturnType<typeof serve>>
let caught = 0

beforeAll(async () => {
  trap = await serve((_, response) => {
    caught++
    response.end('{}')
  })
  issuer = await startSmallIssuer(resource)
  workshop = await openWorkshop(issuer, resource, trap.url)
  method = oauth({ issuer: issuer.url, resource })
})
afterAll(() => Promise.all([issuer.close(), trap.close()]))

test('a good token is accepted', async () => {
  const exp = seconds(300)
  expect(await method.verify(await issuer.sign({ exp }))).toMatchObject({
    auth: { sub: 'ada', clientId: 'robot', scopes: ['notes:read'], issuer: issuer.url, expiresAt: exp },
    expiresAt: (exp + 60) * 1000,
  })
})

test('what a token says cannot be changed, because all requests with it share it', async () => {
  const verdict = (await method.verify(await issuer.sign({ groups: [{ name: 'crew' }] }))) as Accepted
  const { claims, scopes } = verdict.auth as { claims: { groups: { name: string }[] }; scopes: string[] }
  expect(() => (claims.groups[0]!.name = 'captain')).toThrow(TypeError)
  expect(() => claims.groups.push({ name: 'captain' })).toThrow(TypeError)
  expect(() => scopes.push('admin')).toThrow(TypeError)
})

/** Expects that the token is to blame, and not a failure; a key that is not known may be a new one. */
function expectOfToken(verdict: Verdict | undefined): void {
  const { rejected, why } = { rejected: undefined, why: undefined, ...verdict }
  expect([rejected === 'unavailable', why]).not.toEqual([
    true,
    expect.not.stringMatching(/^its key is not known yet$/),
  ])
}

test('hostile tokens are rejected, each for its own reason, and nothing that they name is fetched', async () => {
  const reasons: Record<string, string> = {}
  for (const { id, create } of HOSTILE_TOKENS) {
    const verdict = await method.verify(await create(workshop))
    expect(verdict ?? {}).not.toHaveProperty('auth')
    expectOfToken(verdict)
    const reason = verdict === undefined ? 'left to other methods' : 'why' in verdict ? verdict.why : ''
    reasons[reason] = reason in reasons ? `${reasons[reason]} ${id}` : id
  }
  expect(reasons).toEqual(REASONS)
  expect(caught).toBe(0)
})

test('a token in which any one character differs is never accepted', async () => {
  const token = await issuer.sign()
  // The last character has bits that belong to no byte.
  const change = fc.tuple(
    fc.nat(token.length - 2),
    fc.constantFrom('A', 'B', 'a', '0', '9', '-', '_', '.', '='),
  )
  await fc.assert(
    fc.asyncProperty(change, async ([at, character]) => {
      fc.pre(token[at] !== character)
      const verdict = await method.verify(token.slice(0, at) + character + token.slice(at + 1))
      expect(verdict ?? {}).not.toHaveProperty('auth')
      expectOfToken(verdict)
    }),
    { numRuns: 500 },
  )
})

test('good tokens in unusual forms are accepted', async () => {
  const accepted = [
    await issuer.sign({ aud: ['https://a.example', resource] }),
    await issuer.sign({}, { typ: 'JWT' }),
    await issuer.sign({}, { typ: undefined }),
    await issuer.sign({}, { typ: 'application/at+jwt' }),
    // Clocks may differ by a minute.
    await issuer.sign({ iat: seconds(40), nbf: seconds(40) }),
    await issuer.sign({ exp: seconds(-40) }),
    // The clock of the issuer is five minutes behind, but its tokens last long enough.
    await issuer.sign({ iat: seconds(-300), exp: seconds(300) }),
    await issuer.sign({}, {}, workshop.rsa),
    // Keycloak before version 25 copies the nonce to access tokens.
    await issuer.sign({ typ: 'Bearer', nonce: 'n-0S6' }, { typ: 'JWT' }),
    await issuer.sign({ nonce: 'n-0S6' }, { typ: 'at+jwt' }),
    // With one registration for client and server, access tokens have both names too, and scopes.
    await issuer.sign({ aud: resource, azp: resource, client_id: undefined }, { typ: 'JWT' }),
  ]
  for (const token of accepted) expect(await method.verify(token)).toHaveProperty('auth')
})

test.each([
  [{ scope: undefined, scp: ['notes:read', 'a'] }, { scopes: ['notes:read', 'a'] }],
  [{ scope: undefined, scp: 'notes:read a' }, { scopes: ['notes:read', 'a'] }],
  [{ scope: undefined }, { scopes: [] }],
  [
    { client_id: undefined, azp: 'web' },
    { sub: 'ada', clientId: 'web' },
  ],
  [{ client_id: undefined }, { sub: 'ada', clientId: undefined }],
  // A client may choose its id, but it never becomes the user of that name.
  [{ sub: undefined }, { sub: 'client:robot', clientId: 'robot' }],
  [{ sub: 'robot' }, { sub: 'robot', clientId: 'robot' }],
])('the claims %j become the caller', async (claims, auth) => {
  expect(await method.verify(await issuer.sign(claims))).toMatchObject({ auth })
})

test('a user whose subject is that of a client on its own behalf is another owner', async () => {
  const owners = new Set<string>()
  for (const sub of [undefined, 'client:robot']) {
    const verdict = (await method.verify(await issuer.sign({ sub }))) as Accepted
    expect(verdict.auth).toMatchObject({ sub: 'client:robot', clientId: 'robot' })
    owners.add(ownerOf(verdict.auth))
    // A renewed token has the same owner.
    const renewed = (await method.verify(await issuer.sign({ sub, exp: seconds(400) }))) as Accepted
    owners.add(ownerOf(renewed.auth))
  }
  expect(owners.size).toBe(2)
})

test('a token that is too long is left to other methods', async () => {
  expect(await method.verify(await issuer.sign({ more: 'x'.repeat(30_000) }))).toBeUndefined()
})

test('options narrow what is accepted', async () => {
  const { url } = issuer
  const strict = oauth({ issuer: url, resource, strictType: true })
  expect(await strict.verify(await issuer.sign({}, { typ: 'JWT' }))).toHaveProperty('rejected', 'invalid')
  expect(await strict.verify(await issuer.sign())).toHaveProperty('auth')
  const rsaOnly = oauth({ issuer: url, resource, algorithms: ['RS256'] })
  expect(await rsaOnly.verify(await issuer.sign())).toHaveProperty('rejected', 'invalid')
  const exact = oauth({ issuer: url, resource, clockSkew: 0 })
  expect(await exact.verify(await issuer.sign({ exp: seconds(-2) }))).toHaveProperty('rejected', 'expired')
  const named = oauth({ issuer: url, resource, audience: 'api://notes' })
  expect(await named.verify(await issuer.sign())).toHaveProperty('rejected', 'invalid')
  expect(await named.verify(await issuer.sign({ aud: 'api://notes' }))).toHaveProperty('auth')
})

test('a token of each of several issuers is accepted, each with the keys of its issuer only', async () => {
  const other = await startSmallIssuer(resource)
  try {
    const both = oauth({ issuer: [issuer.url, { issuer: other.url, audience: 'other' }], resource })
    expect(both.issuers).toEqual([issuer.url, other.url])
    expect(await both.verify(await issuer.sign())).toHaveProperty('auth.issuer', issuer.url)
    expect(await both.verify(await other.sign({ aud: 'other' }))).toHaveProperty('auth.issuer', other.url)
    expect(await both.verify(await other.sign())).toHaveProperty('rejected', 'invalid')
    expect(await both.verify(await other.sign({ iss: issuer.url }))).toHaveProperty('rejected', 'invalid')
  } finally {
    await other.close()
  }
})

test.each([
  [{ issuer: 'http://id.example' }, 'issuer must be the https URL of an issuer'],
  [{ issuer: 'https://id.example/?a' }, 'issuer must be the https URL of an issuer'],
  [{ issuer: 'https://user@id.example' }, 'issuer must be the https URL of an issuer'],
  [{ issuer: [] }, 'name at least one issuer'],
  [{ issuer: ['https://a.example', 'https://a.example'] }, 'https://a.example twice'],
  [{ issuer: { issuer: 'https://a.example', jwks: 'x' } }, 'there is no option "jwks"'],
  [{ issuer: { issuer: 'https://a.example', keys: 'http://a.example/keys' } }, 'keys must be an https URL'],
  [{ resource: '/mcp' }, 'resource is not a URL'],
  [{ resource: 'https://a.example/#b' }, 'must not have a query or fragment'],
  [{ algorithms: ['HS256'] }, 'algorithms must be a list'],
  [{ algorithms: [] }, 'algorithms must be a list'],
  [{ audience: '' }, 'audience must be'],
  [{ audience: [] }, 'audience must be'],
  [{ issuer: { issuer: 'https://a.example', audience: [''] } }, 'audience must be'],
  [{ clockSkew: '1h' }, 'clockSkew must be at most'],
  [{ dpop: { secret: 'x'.repeat(32) } }, 'secret signs nonces, so it needs nonces: true'],
  [{ dpop: { nonces: true, secret: 'short' } }, 'secret must be a text of at least 32 characters'],
  [{ includes: { admin: 'read' } }, 'includes must be an object with lists of scopes'],
])('wrong options are explained: %j', (change, message) => {
  const options = { issuer: 'https://id.example', resource, ...change }
  expect(() => oauth(options as Parameters<typeof oauth>[0])).toThrow(message)
})

test('of the header of a token, its key is looked for with the algorithm and the name alone', async () => {
  const asked: unknown[] = []
  const find = (name: unknown): Promise<never> => {
    asked.push(name)
    throw new IssuerError('no keys')
  }
  const rules = { keys: { find }, algorithms: ['ES256'], strictType: false } as unknown as JwtRules
  const more = Object.fromEntries(Array.from({ length: 20 }, (_, nth) => [`m${nth}`, []]))
  await verifyJwt(await issuer.sign({}, more), () => rules)
  expect(asked).toEqual([{ alg: 'ES256', kid: 'first' }])
  const many = { more: Array.from({ length: 1000 }, () => ({})) }
  expect(await verifyJwt(await issuer.sign({}, many), () => rules)).toBeUndefined()
  expect(asked).toHaveLength(1)
})

test('a key whose name is not text does not exist', async () => {
  for (const kid of [7, null, {}, ['first']])
    expect(await method.verify(await issuer.sign({}, { kid }))).toHaveProperty(
      'why',
      'its issuer has no such key',
    )
})
