import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  clientCredentials,
  clientCredentialsGrant,
  type ClientCredentialsOptions,
} from '../../src/auth/client/client-credentials.ts'
import type { PrivateKey } from '../../src/auth/client/private-key.ts'
import { TokenError } from '../../src/auth/client/token-error.ts'
import { oauth, type Algorithm } from '../../src/auth.ts'
import { callerOf, guard } from '../auth/guarded.ts'
import { startSmallIssuer, type SmallIssuer } from '../auth/small-issuer.ts'
import { contextOf, everythingOf, failureOf, SERVER, serveTokens } from './grants-context.ts'
import { createClientKey, SECRET, startRealIssuer, type ClientKey, type RealIssuer } from './grants-issuer.ts'

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'RS256'] as const
const keys = new Map<string, ClientKey>()
let real: RealIssuer
let small: SmallIssuer

beforeAll(async () => {
  for (const algorithm of ALGORITHMS) keys.set(algorithm, await createClientKey(algorithm))
  real = await startRealIssuer({ keys: [...keys.values()] })
  small = await startSmallIssuer(SERVER)
})
afterAll(async () => {
  await real.close()
  await small.close()
})

function keyFor(algorithm: string): ClientKey {
  return keys.get(algorithm)!
}

/** Gets tokens from the real issuer, and calls a server with them. */
async function login(options: ClientCredentialsOptions): Promise<unknown> {
  const context = contextOf(real.metadata, { scopes: ['notes:read'] })
  const { tokens, registration } = await clientCredentialsGrant(options).obtain(context)
  expect(registration).toBeUndefined()
  expect(tokens).toMatchObject({ type: 'bearer', scopes: ['notes:read'], refreshToken: undefined })
  const server = await guard(oauth({ issuer: real.url, resource: SERVER }))
  const reply = await server.call({ authorization: `Bearer ${tokens.accessToken}` })
  expect(context.sent.map(({ form }) => form.get('resource'))).toEqual([SERVER])
  return callerOf(reply)['sub']
}

describe('a client gets tokens for itself', () => {
  test('with a secret in the header', async () => {
    expect(await login({ clientId: 'basic', clientSecret: SECRET })).toBe('basic')
  })

  test('with a secret in the form', async () => {
    expect(await login({ clientId: 'post', clientSecret: SECRET, authMethod: 'client_secret_post' })).toBe(
      'post',
    )
  })

  test.each(['ES256', 'ES384', 'ES512', 'EdDSA', 'RS256'])('with a key as PEM text for %s', async (name) => {
    expect(await login({ clientId: name, key: keyFor(name).pem })).toBe(name)
  })

  test('with a key as PEM text for an algorithm that must be named', async () => {
    expect(await login({ clientId: 'PS256', key: keyFor('PS256').pem, algorithm: 'PS256' })).toBe('PS256')
  })

  test.each(['ES256', 'EdDSA', 'PS256'])('with a key as JWK for %s', async (name) => {
    const { d, ...rest } = keyFor(name).jwk
    expect(await login({ clientId: name, key: { ...rest, d } as JsonWebKey })).toBe(name)
  })

  test.each(['ES384', 'ES512', 'EdDSA', 'PS256', 'RS256'])('with a CryptoKey for %s', async (name) => {
    expect(await login({ clientId: name, key: keyFor(name).key })).toBe(name)
  })
})

test('a signed assertion is for the issuer and the client, new each time, and names its key', async () => {
  const { metadata, asked } = serveTokens(small, () => ({
    body: { access_token: 'a', token_type: 'bearer' },
  }))
  const grant = clientCredentialsGrant({ clientId: 'robot', key: keyFor('ES256').pem, keyId: 'first' })
  await grant.obtain(contextOf(metadata))
  await grant.obtain(contextOf(metadata))
  const assertions = asked.map(({ form }) => form.get('client_assertion')!)
  const claims = assertions.map((one) => decodeJwt(one))
  for (const { iss, sub, aud, exp } of claims) {
    expect({ iss, sub, aud }).toEqual({ iss: 'robot', sub: 'robot', aud: small.url })
    expect(exp! - Date.now() / 1000).toBeLessThanOrEqual(61)
  }
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2)
  expect(decodeProtectedHeader(assertions[0]!)).toMatchObject({ alg: 'ES256', kid: 'first' })
  expect(asked[0]!.form.get('scope')).toBeNull()
})

test('the algorithm has the name that the issuer lists', async () => {
  const body = { access_token: 'a', token_type: 'bearer' }
  for (const name of ['EdDSA', 'Ed25519']) {
    const { metadata, asked } = serveTokens(small, () => ({ body }), {
      token_endpoint_auth_signing_alg_values_supported: [name],
    })
    await clientCredentialsGrant({ clientId: 'robot', key: keyFor('EdDSA').pem }).obtain(contextOf(metadata))
    expect(decodeProtectedHeader(asked[0]!.form.get('client_assertion')!).alg).toBe(name)
  }
})

test('a wrong secret is an error that says so without it', async () => {
  const wrong = 'a-wrong-secret'
  const context = contextOf(real.metadata)
  const failure = await failureOf(
    clientCredentialsGrant({ clientId: 'basic', clientSecret: wrong }).obtain(context),
  )
  expect(failure).toBeInstanceOf(TokenError)
  expect(failure).toMatchObject({ code: 'invalid_client', status: 401 })
  expect(everythingOf(failure)).not.toContain(wrong)
  expect(context.steps).toEqual([
    `request a token from ${real.url}/token (client_credentials, client_secret_basic)`,
  ])
})

test('the scopes are those that the issuer granted', async () => {
  const context = contextOf(real.metadata, { scopes: ['notes:read', 'notes:destroy'] })
  const { tokens } = await clientCredentialsGrant({ clientId: 'basic', clientSecret: SECRET }).obtain(context)
  expect(tokens.scopes).toEqual(['notes:read'])
  expect(tokens.expiresAt).toBeGreaterThan(Date.now() + 590_000)
})

test('an issuer that lets clients in without authentication only is an error, and gets nothing', async () => {
  const { metadata, asked } = serveTokens(small, () => ({ body: {} }), {
    token_endpoint_auth_methods_supported: ['none'],
  })
  const grant = clientCredentialsGrant({ clientId: 'robot', clientSecret: SECRET })
  await expect(grant.obtain(contextOf(metadata))).rejects.toThrow('client_secret_basic')
  expect(asked).toEqual([])
})

test('a refresh token is not kept, since the credentials are enough', async () => {
  const { metadata } = serveTokens(small, () => ({
    body: { access_token: 'a', token_type: 'bearer', refresh_token: 'again' },
  }))
  const grant = clientCredentialsGrant({ clientId: 'robot', clientSecret: SECRET })
  expect((await grant.obtain(contextOf(metadata))).tokens.refreshToken).toBeUndefined()
  expect(grant).toMatchObject({ isInteractive: false, clientId: 'robot' })
  expect(grant.refresh).toBeUndefined()
})

describe('options', () => {
  const PUBLIC_JWK = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }
  const wrong: readonly (readonly [object, string])[] = [
    [{}, 'clientId'],
    [{ clientId: '' }, 'clientId'],
    [{ clientId: 'robot' }, 'clientSecret or key'],
    [{ clientId: 'robot', secret: 's' }, 'did you mean "clientSecret"'],
    [{ clientId: 'robot', clientSecret: '' }, 'clientSecret'],
    [{ clientId: 'robot', clientSecret: 's', key: PUBLIC_JWK }, 'public'],
    [{ clientId: 'robot', clientSecret: 's', key: { ...PUBLIC_JWK, d: 'AA' } }, 'both'],
    [{ clientId: 'robot', clientSecret: 's', algorithm: 'ES256' }, 'algorithm'],
    [{ clientId: 'robot', clientSecret: 's', keyId: 'first' }, 'keyId'],
    [{ clientId: 'robot', key: { ...PUBLIC_JWK, d: 'AA' }, algorithm: 'HS256' }, 'HS256'],
    [{ clientId: 'robot', key: { ...PUBLIC_JWK, d: 'AA' }, authMethod: 'client_secret_post' }, 'authMethod'],
    [{ clientId: 'robot', clientSecret: 's', authMethod: 'post' }, 'client_secret_post'],
    [{ clientId: 'robot', clientSecret: 's' }, 'clientSecret needs the option issuer'],
    [{ clientId: 'robot', key: './key.pem' }, 'the contents of the file'],
    [{ clientId: 'robot', key: '-----BEGIN RSA PRIVATE KEY-----\nAA' }, 'openssl pkcs8'],
    [{ clientId: 'robot', key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA' }, 'openssl pkcs8'],
    [{ clientId: 'robot', clientSecret: 's', scopes: 'a b' }, `['a', 'b']`],
    [{ clientId: 'robot', clientSecret: 's', issuer: 'http://id.example' }, 'https'],
  ]
  test.each(wrong)('%j are rejected', (options, word) => {
    expect(() => clientCredentials(options as ClientCredentialsOptions)).toThrow(word)
  })

  test('that are right create a method', () => {
    expect(
      clientCredentials({
        clientId: 'robot',
        clientSecret: SECRET,
        issuer: 'https://id.example',
        scopes: ['a'],
      }).name,
    ).toBe('clientCredentials')
  })

  const unusable: readonly (readonly [string, () => PrivateKey, Algorithm | undefined])[] = [
    ['a broken key', () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', undefined],
    ['a key for another algorithm', () => keyFor('ES256').pem, 'RS256'],
    ['a CryptoKey for another algorithm', () => keyFor('ES256').key, 'RS256'],
    ['a broken JWK', () => ({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', d: 'a-secret-part' }), undefined],
  ]
  test.each(unusable)('with %s are an error that does not repeat the key', async (_, key, algorithm) => {
    const grant = clientCredentialsGrant({ clientId: 'robot', key: key(), algorithm })
    const failure = await failureOf(grant.obtain(contextOf(real.metadata)))
    expect(failure.message).toContain('clientCredentials')
    expect(everythingOf(failure)).not.toMatch(/AAAA|a-secret-part/)
  })
})
