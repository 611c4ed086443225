import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { introspection } from '../../src/auth/introspection.ts'
import type { Verdict } from '../../src/transport/http/server/auth-method.ts'
import { goodClaims, METADATA, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const INTROSPECT = '/introspect'
let issuer: SmallIssuer
/** The time, which stands still. */
let now: number

beforeEach(async () => {
  issuer = await startSmallIssuer(resource)
  issuer.metadata = { introspection_endpoint: issuer.url + INTROSPECT }
  // A whole number: a second after a fraction may be a little less than a second.
  now = Math.ceil(performance.now())
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  answer(INTROSPECT, 200)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await issuer.close()
})

function answer(path: string, status: number): void {
  const body = JSON.stringify({ ...goodClaims(issuer.url, resource), active: true })
  issuer.instead.set(path, (_, response) => void response.writeHead(status).end(body))
}

function method(): (token: string) => Promise<Verdict | undefined> {
  const { verify } = introspection({ issuer: issuer.url, resource, clientId: 'a', clientSecret: 'b' })
  return async (token) => verify(token)
}

function count(path: string): number {
  return issuer.requests.filter((one) => one === path).length
}

const tokens = Array.from({ length: 20 }, (_, nth) => `token-${nth}`)

test('many first tokens at once cause one fetch of the metadata', async () => {
  for (const verdict of await Promise.all(tokens.map(method()))) expect(verdict).toHaveProperty('auth')
  expect([count(METADATA), count(INTROSPECT)]).toEqual([1, 20])
})

test.each([400, 401, 429, 500, 503])(
  'errors with status %i say nothing about the metadata, which is not fetched again',
  async (status) => {
    const verify = method()
    answer(INTROSPECT, status)
    for (const token of tokens) {
      expect(await verify(token)).toHaveProperty('rejected', 'unavailable')
      now += 1000
    }
    expect([count(METADATA), count(INTROSPECT)]).toEqual([1, 20])
  },
)

test('a token that the issuer refuses to answer about is asked about once within a few seconds', async () => {
  const verify = method()
  answer(INTROSPECT, 400)
  for (let times = 0; times < 10; times++)
    expect(await verify('odd')).toHaveProperty('rejected', 'unavailable')
  expect(count(INTROSPECT)).toBe(1)
})

test('metadata that cannot be fetched is asked for again after a second, however many tokens need it', async () => {
  const verify = method()
  answer(METADATA, 500)
  for (let round = 1; round <= 3; round++) {
    for (const verdict of await Promise.all(tokens.map(verify)))
      expect(verdict).toHaveProperty('rejected', 'unavailable')
    expect(await verify('late')).toHaveProperty('rejected', 'unavailable')
    expect(count(METADATA)).toBe(round)
    now += 1000
  }
  issuer.instead.delete(METADATA)
  expect(await verify('late')).toHaveProperty('auth')
})

test.each([404, 302])('an endpoint that moved (%i) is found again after a second', async (status) => {
  const verify = method()
  expect(await verify('token')).toHaveProperty('auth')
  answer(INTROSPECT, status)
  issuer.metadata = { introspection_endpoint: `${issuer.url}/moved` }
  answer('/moved', 200)
  for (const token of tokens) expect(await verify(token)).toHaveProperty('rejected', 'unavailable')
  expect(count(METADATA)).toBe(1)
  now += 1000
  for (const token of tokens) expect(await verify(token)).toHaveProperty('auth')
  expect(count(METADATA)).toBe(2)
})
