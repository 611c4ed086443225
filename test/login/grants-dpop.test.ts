import { createHash } from 'node:crypto'
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  EmbeddedJWK,
  jwtVerify,
  type JWK,
} from 'jose'
import { DPoP, generateKeyPair } from 'oauth4webapi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDpop, type Dpop } from '../../src/auth/client/dpop.ts'
import { readTokens, requestGrant } from '../../src/auth/client/token-request.ts'
import { oauth } from '../../src/auth.ts'
import type { AuthReply, AuthRequest } from '../../src/transport/http/client/auth-method.ts'
import { callerOf, guard, type Guarded } from '../auth/guarded.ts'
import { contextOf, failureOf, SERVER } from './grants-context.ts'
import { SECRET, startRealIssuer, type RealIssuer } from './grants-issuer.ts'

let plain: RealIssuer
let strict: RealIssuer
beforeAll(async () => {
  plain = await startRealIssuer()
  strict = await startRealIssuer({ nonces: true })
})
afterAll(async () => {
  await plain.close()
  await strict.close()
})

const CLIENT = { clientId: 'basic', secret: SECRET }

function request(url: string = SERVER, verb: string = 'POST'): AuthRequest {
  return { verb, url: new URL(url), signal: new AbortController().signal }
}

function reply(status: number, headers: Readonly<Record<string, string>> = {}): AuthReply {
  return { status, headers: new Headers(headers) }
}

const wanting = (nonce: string): AuthReply =>
  reply(401, { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': nonce })

async function tokenFrom(issuer: RealIssuer, dpop: Dpop, resource: string = SERVER): Promise<string> {
  const context = contextOf(issuer.metadata, { dpop: dpop.handle, resource })
  const given = await requestGrant(context, CLIENT, 'client_credentials', { resource, scope: 'notes:read' })
  const tokens = readTokens(given, context)
  expect(tokens.type).toBe('dpop')
  return tokens.accessToken
}

async function claimsOf(dpop: Dpop, asked: AuthRequest = request()): Promise<Record<string, unknown>> {
  return decodeJwt((await dpop.headers(asked, 'a-token'))['dpop']!)
}

test('a proof is signed for the method, the URL and the token of each request', async () => {
  const dpop = await openDpop(undefined)
  const url = 'https://mcp.example:8443/a%20b/mcp?session=1#part'
  const headers = await dpop.headers(request(url, 'DELETE'), 'a-token')
  expect(Object.keys(headers).sort()).toEqual(['authorization', 'dpop'])
  expect(headers['authorization']).toBe('DPoP a-token')
  const { payload, protectedHeader } = await jwtVerify(headers['dpop']!, EmbeddedJWK, { typ: 'dpop+jwt' })
  expect(payload).toEqual({
    htm: 'DELETE',
    htu: 'https://mcp.example:8443/a%20b/mcp',
    ath: createHash('sha256').update('a-token').digest('base64url'),
    iat: expect.closeTo(Date.now() / 1000, -1) as number,
    jti: expect.any(String) as string,
  })
  expect(Object.keys(protectedHeader['jwk'] as object).sort()).toEqual(['crv', 'kty', 'x', 'y'])
  expect((await claimsOf(dpop))['jti']).not.toBe((await claimsOf(dpop))['jti'])
})

test('the key survives as JSON, and the next proofs are signed with it', async () => {
  const first = await openDpop(undefined)
  const second = await openDpop(JSON.parse(JSON.stringify(first.key)) as JsonWebKey)
  expect(second.key).toEqual(first.key)
  expect(await second.handle.calculateThumbprint()).toBe(await first.handle.calculateThumbprint())
  const { dpop = '' } = await second.headers(request(), 'a-token')
  const { jwk } = decodeProtectedHeader(dpop)
  expect(await calculateJwkThumbprint(jwk as JWK)).toBe(await first.handle.calculateThumbprint())
  const other = await openDpop(undefined)
  expect(await other.handle.calculateThumbprint()).not.toBe(await first.handle.calculateThumbprint())
})

test.each([
  ['nothing', {}],
  ['a secret', { kty: 'oct', k: 'AAAA', alg: 'HS256' }],
  ['a public key', { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', alg: 'ES256' }],
  ['another algorithm', { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', d: 'AA', alg: 'none' }],
  ['a broken key', { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', d: 'AA', alg: 'ES256' }],
])('a stored value that is %s is replaced by a new key', async (_, stored) => {
  const dpop = await openDpop(stored)
  expect(dpop.key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', d: expect.any(String) as string })
  expect(dpop.key['x']).not.toBe('AA')
})

test.each([
  [['ES256', 'RS256'], 'ES256'],
  [['RS256', 'none'], 'RS256'],
  [['PS256', 'ES384'], 'ES384'],
  [['EdDSA'], 'EdDSA'],
  [['Ed25519'], 'Ed25519'],
])('for %s, a key is created for %s', async (accepted, algorithm) => {
  const dpop = await openDpop(undefined, accepted)
  expect(dpop.key['alg']).toBe(algorithm)
  const proof = (await dpop.headers(request(), 'a-token'))['dpop']!
  expect((await jwtVerify(proof, EmbeddedJWK)).protectedHeader.alg).toBe(algorithm)
  // A key for another algorithm is of no use there.
  const other = await openDpop((await openDpop(undefined, ['ES512'])).key, accepted)
  expect(other.key['alg']).toBe(algorithm)
})

test('an issuer that accepts no algorithm with a public key is an error', async () => {
  expect((await failureOf(openDpop(undefined, ['none', 'HS256']))).message).toContain('none, HS256')
})

describe('nonces', () => {
  test('belong to the origin that sent them', async () => {
    const dpop = await openDpop(undefined)
    expect(await claimsOf(dpop)).not.toHaveProperty('nonce')
    expect(dpop.observe(new URL(SERVER), wanting('first'))).toBe(true)
    expect(await claimsOf(dpop)).toMatchObject({ nonce: 'first' })
    expect(await claimsOf(dpop, request('https://mcp.example/other'))).toMatchObject({ nonce: 'first' })
    expect(await claimsOf(dpop, request('https://mcp.example:444/mcp'))).not.toHaveProperty('nonce')
    expect(await claimsOf(dpop, request('http://mcp.example/mcp'))).not.toHaveProperty('nonce')
  })

  test('are taken from any reply, but only a challenge asks to send the request again', async () => {
    const dpop = await openDpop(undefined)
    const url = new URL(SERVER)
    expect(dpop.observe(url, reply(200, { 'dpop-nonce': 'second' }))).toBe(false)
    expect(await claimsOf(dpop)).toMatchObject({ nonce: 'second' })
    const expired = { 'www-authenticate': 'DPoP error="invalid_token"', 'dpop-nonce': 'third' }
    expect(dpop.observe(url, reply(401, expired))).toBe(false)
    expect(await claimsOf(dpop)).toMatchObject({ nonce: 'third' })
    expect(
      dpop.observe(url, reply(403, { ...expired, 'www-authenticate': 'DPoP error="use_dpop_nonce"' })),
    ).toBe(false)
    expect(dpop.observe(url, reply(401))).toBe(false)
    const challenges = `Bearer realm="x", DPoP algs="ES256 RS256", error="use_dpop_nonce"`
    expect(dpop.observe(url, reply(401, { 'www-authenticate': challenges, 'dpop-nonce': 'fourth' }))).toBe(
      true,
    )
    expect(await claimsOf(dpop)).toMatchObject({ nonce: 'fourth' })
  })

  test('ask every request to be sent again that was sent without them', async () => {
    const dpop = await openDpop(undefined)
    expect([wanting('same'), wanting('same')].map((one) => dpop.observe(new URL(SERVER), one))).toEqual([
      true,
      true,
    ])
  })

  test('that no server may send are ignored', async () => {
    const dpop = await openDpop(undefined)
    for (const nonce of ['', 'with space', 'with"quote', 'x'.repeat(2000)])
      expect(dpop.observe(new URL(SERVER), wanting(nonce))).toBe(false)
    expect(await claimsOf(dpop)).not.toHaveProperty('nonce')
  })

  test('are remembered for a bounded number of origins', async () => {
    const dpop = await openDpop(undefined)
    for (let port = 1; port <= 200; port++)
      dpop.observe(new URL(`https://mcp.example:${port}/`), wanting(`n${port}`))
    expect(await claimsOf(dpop, request('https://mcp.example:1/'))).not.toHaveProperty('nonce')
    expect(await claimsOf(dpop, request('https://mcp.example:200/'))).toMatchObject({ nonce: 'n200' })
  })
})

describe('a server that accepts only tokens that are bound to a key', () => {
  const call = async (server: Guarded, dpop: Dpop, token: string): Promise<AuthReply & { sub?: unknown }> => {
    // The server knows itself by its public name; the proof is for that, as behind a proxy.
    const received = await server.call(await dpop.headers(request(), token))
    const headers = new Headers(received.headers as Record<string, string>)
    const sub = received.status === 200 ? callerOf(received)['sub'] : undefined
    return { status: received.status, headers, sub }
  }

  test('accepts those of a real issuer with their proofs', async () => {
    const server = await guard(oauth({ issuer: plain.url, resource: SERVER, dpop: { required: true } }))
    const dpop = await openDpop(undefined)
    const token = await tokenFrom(plain, dpop)
    expect(await call(server, dpop, token)).toMatchObject({ status: 200, sub: 'basic' })
    expect(await call(server, await openDpop(dpop.key), token)).toMatchObject({ status: 200 })
    expect(await call(server, await openDpop(undefined), token)).toMatchObject({ status: 401 })
  })

  test('can ask for nonces, as can the issuer', async () => {
    const auth = oauth({ issuer: strict.url, resource: SERVER, dpop: { required: true, nonces: true } })
    const server = await guard(auth)
    const dpop = await openDpop(undefined)
    const token = await tokenFrom(strict, dpop)
    const first = await call(server, dpop, token)
    expect(first.status).toBe(401)
    expect(dpop.observe(new URL(SERVER), first)).toBe(true)
    const second = await call(server, dpop, token)
    expect(second).toMatchObject({ status: 200 })
    expect(dpop.observe(new URL(SERVER), second)).toBe(false)
    expect(await call(server, dpop, token)).toMatchObject({ status: 200 })
  })
})

test('an issuer that wants a nonce gets the request once more, and the next one has it at once', async () => {
  const { handle } = await openDpop(undefined)
  const context = contextOf(strict.metadata, { dpop: handle })
  const form = { resource: SERVER }
  await requestGrant(context, CLIENT, 'client_credentials', form)
  expect(context.sent).toHaveLength(2)
  await requestGrant(context, CLIENT, 'client_credentials', form)
  expect(context.sent).toHaveLength(3)
  const proofs = context.sent.map(({ headers }) => decodeJwt(headers.get('dpop')!))
  expect(proofs.map(({ nonce }) => typeof nonce)).toEqual(['undefined', 'string', 'string'])
  expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(3)
})

test('an issuer that wants another nonce each time is asked twice', async () => {
  const pair = await generateKeyPair('ES256')
  const context = contextOf(strict.metadata, { dpop: DPoP({}, pair) })
  let count = 0
  const endless = {
    ...context,
    fetch: () =>
      Promise.resolve(
        Response.json({ error: 'use_dpop_nonce' }, { status: 400, headers: { 'dpop-nonce': `n${count++}` } }),
      ),
  }
  await expect(requestGrant(endless, CLIENT, 'client_credentials', {})).rejects.toMatchObject({
    code: 'use_dpop_nonce',
  })
  expect(count).toBe(2)
})
