import { generateKeyPairSync, sign } from 'node:crypto'
import type { JWK } from 'jose'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { oauth } from '../../src/auth/oauth.ts'
import type { Rejected, Verdict } from '../../src/transport/http/server/auth-method.ts'
import { serve } from './serve.ts'
import {
  createSigningKey,
  goodClaims,
  KEYS,
  METADATA,
  startSmallIssuer,
  type SmallIssuer,
} from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const MINUTE = 60_000
let issuer: SmallIssuer
let later = 0

beforeEach(async () => {
  issuer = await startSmallIssuer(resource)
  later = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + later)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await issuer.close()
})

function fetches(path: string): number {
  return issuer.requests.filter((one) => one === path).length
}

function method(): { verify(token: string): Promise<Verdict | undefined> } {
  const { verify } = oauth({ issuer: issuer.url, resource })
  return { verify: async (token) => verify(token) }
}

function causeOf(verdict: Verdict | undefined): string {
  const errors: string[] = []
  for (let cause = (verdict as Rejected).cause; cause instanceof Error; cause = cause.cause)
    errors.push(cause.message)
  return errors.join('; ')
}

test('many tokens at once cause one fetch of the metadata and of the keys', async () => {
  const { verify } = method()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => issuer.sign()))
  for (const verdict of await Promise.all(tokens.map(verify))) expect(verdict).toHaveProperty('auth')
  expect(issuer.requests).toEqual([METADATA, KEYS])
})

test('A.rotation tokens with a new key are accepted, and those with a withdrawn key are not', async () => {
  const { verify } = method()
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  const next = await createSigningKey('next')
  issuer.keys = [issuer.key.jwk, next.jwk]
  later += MINUTE
  const tokens = await Promise.all(Array.from({ length: 5 }, () => issuer.sign({}, {}, next)))
  for (const verdict of await Promise.all(tokens.map(verify))) expect(verdict).toHaveProperty('auth')
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  expect(fetches(KEYS)).toBe(2)
  issuer.keys = [next.jwk]
  later += 11 * MINUTE
  expect(await verify(await issuer.sign())).toHaveProperty('rejected', 'invalid')
})

test('a new key that the issuer has since the last fetch is unavailable until the next fetch is due, and not invalid', async () => {
  const { verify } = method()
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  const next = await createSigningKey('next')
  issuer.keys = [issuer.key.jwk, next.jwk]
  later += MINUTE / 2
  const verdict = await verify(await issuer.sign({}, {}, next))
  expect(verdict).toMatchObject({ rejected: 'unavailable', why: 'its key is not known yet' })
  expect(causeOf(verdict)).toContain('they are fetched again within a minute')
  later += MINUTE / 2
  expect(await verify(await issuer.sign({}, {}, next))).toHaveProperty('auth')
})

test('a key that the issuer does not have although its keys were fetched for the token is invalid, also later', async () => {
  const { verify } = method()
  expect(await verify(await issuer.sign({}, { kid: 'old' }))).toHaveProperty('rejected', 'invalid')
  later += MINUTE / 2
  expect(await verify(await issuer.sign({}, { kid: 'old' }))).toHaveProperty('rejected', 'invalid')
  expect(fetches(KEYS)).toBe(1)
})

test('A.kid-flood 10^5 tokens with unknown keys cause at most one fetch per minute', async () => {
  const { verify } = method()
  const [, payload, signature] = (await issuer.sign()).split('.')
  const flood = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1000)
      await Promise.all(
        Array.from({ length: 1000 }, async (_, index) => {
          const header = JSON.stringify({ alg: 'ES256', kid: `unknown-${at + index}` })
          const token = `${Buffer.from(header).toString('base64url')}.${payload}.${signature}`
          const { rejected } = (await verify(token)) as Rejected
          expect(['invalid', 'unavailable']).toContain(rejected)
        }),
      )
  }
  await flood(100_000)
  expect(fetches(KEYS)).toBe(1)
  later += MINUTE
  await flood(1000)
  expect(fetches(KEYS)).toBe(2)
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
})

test('A.keys-down known keys are used while the issuer is down, but not for ever', async () => {
  const { verify } = method()
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  issuer.instead.set(KEYS, (_, response) => response.writeHead(500).end())
  later += 30 * MINUTE
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  // Nobody knows whether this key exists.
  expect(await verify(await issuer.sign({}, { kid: 'new' }))).toHaveProperty('rejected', 'unavailable')
  later += 31 * MINUTE
  const verdict = await verify(await issuer.sign())
  expect(verdict).toHaveProperty('rejected', 'unavailable')
  expect(causeOf(verdict)).toContain('replied with status 500')
  issuer.instead.clear()
  later += MINUTE
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
})

test('an issuer that is down at first is asked again after a second, and where its keys are is found anew', async () => {
  const { verify } = method()
  issuer.metadata = { jwks_uri: `${issuer.url}/moved` }
  const token = await issuer.sign()
  expect(await verify(token)).toHaveProperty('rejected', 'unavailable')
  expect(await verify(token)).toHaveProperty('rejected', 'unavailable')
  expect(issuer.requests).toEqual([METADATA, '/moved'])
  issuer.metadata = {}
  later += 1000
  expect(await verify(token)).toHaveProperty('auth')
})

test.each([
  ['A.keys-huge', 'larger than any', 'more than 262144 bytes', '[' + ' '.repeat(300_000)],
  ['A.keys-garbage', 'not JSON', 'something other than a JSON object', 'not JSON'],
  ['A.keys-list', 'a list', 'something other than a JSON object', '[]'],
  ['A.keys-odd', 'no keys', 'cannot be read', '{"keys":{}}'],
])('%s keys that are %s are an error of the issuer', async (_, __, cause, body) => {
  issuer.instead.set(KEYS, (___, response) => response.end(body))
  const verdict = await method().verify(await issuer.sign())
  expect(verdict).toHaveProperty('rejected', 'unavailable')
  expect(causeOf(verdict)).toContain(cause)
})

test('A.keys-endless keys that never end are given up when there are too many of them', async () => {
  issuer.instead.set(KEYS, (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('['.repeat(65_536)));
    }
    response.on('drain', more)
    more()
  })
  expect(causeOf(await method().verify(await issuer.sign()))).toContain('more than 262144 bytes')
})

test('A.keys-slow keys that do not arrive in time are given up, and those that wait get an answer', async () => {
  issuer.instead.set(KEYS, (_, response) => void response.write('{"keys":['))
  const { verify } = method()
  const tokens = await Promise.all([issuer.sign(), issuer.sign()])
  for (const verdict of await Promise.all(tokens.map(verify)))
    expect(causeOf(verdict)).toContain('took longer than')
  expect(fetches(KEYS)).toBe(1)
})

test('A.keys-redirect a redirect of the keys or the metadata is not followed', async () => {
  let caught = 0
  const trap = await serve((_, response) => {
    caught++
    response.end(JSON.stringify({ keys: issuer.keys }))
  })
  try {
    for (const path of [KEYS, METADATA]) {
      issuer.instead.set(path, (_, response) => response.writeHead(302, { location: trap.url }).end())
      expect(await method().verify(await issuer.sign())).toHaveProperty('rejected', 'unavailable')
      issuer.instead.clear()
    }
    expect(caught).toBe(0)
  } finally {
    await trap.close()
  }
})

test('keys at a configured URL need no metadata', async () => {
  const { verify } = oauth({ issuer: { issuer: issuer.url, keys: `${issuer.url}${KEYS}` }, resource })
  expect(await verify(await issuer.sign())).toHaveProperty('auth')
  expect(issuer.requests).toEqual([KEYS])
})

test('a key of the issuer that is too short is not used, and the log says so', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  issuer.keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'short' } as JWK]
  const [header, claims] = [{ alg: 'RS256', kid: 'short' }, goodClaims(issuer.url, resource)].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), privateKey).toString('base64url')
  const verdict = await method().verify(`${header}.${claims}.${signature}`)
  expect(verdict).toHaveProperty('rejected', 'unavailable')
  expect(causeOf(verdict)).toContain('2048 bits')
})

test('private and symmetric keys in the keys of an issuer are never used', async () => {
  const secret = { kty: 'oct', k: 'c2VjcmV0', kid: issuer.key.kid }
  issuer.keys = [secret]
  expect(await method().verify(await issuer.sign())).toHaveProperty('rejected', 'invalid')
})

test('names of keys that are too long to be looked for again are not remembered, and take no room from others', async () => {
  const { verify } = method()
  const [, payload, signature] = (await issuer.sign()).split('.')
  const named = (kid: unknown): string =>
    `${Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')}.${payload}.${signature}`
  const long = Array.from({ length: 1000 }, (_, nth) => named(String(nth).padEnd(300, 'x')))
  for (const verdict of await Promise.all([...long, named('old')].map(verify)))
    expect(verdict).toMatchObject({ rejected: 'invalid', why: 'its issuer has no such key' })
  // It is remembered that the issuer has no such key, so the token does not wait for the next fetch.
  expect(await verify(named('old'))).toHaveProperty('rejected', 'invalid')
  expect(fetches(KEYS)).toBe(1)
})
