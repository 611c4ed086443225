import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { introspection } from '../../src/auth/introspection.ts'
import type { Accepted, Rejected, Verdict } from '../../src/transport/http/server/auth-method.ts'
import { seconds } from './hostile-tokens.ts'
import { goodClaims, startSmallIssuer, type SmallIssuer } from './small-issuer.ts'

const resource = 'https://mcp.example/mcp'
const INTROSPECT = '/introspect'
const credentials = { clientId: 'server: 1', clientSecret: 'ein ß & 100 %' }
let issuer: SmallIssuer
let asked: { readonly authorization: string | undefined; readonly body: URLSearchParams }[]
let answer: Readonly<Record<string, unknown>>

beforeEach(async () => {
  issuer = await startSmallIssuer(resource)
  issuer.metadata = { introspection_endpoint: issuer.url + INTROSPECT }
  asked = []
  answer = { ...goodClaims(issuer.url, resource), active: true }
  issuer.instead.set(INTROSPECT, (request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      asked.push({ authorization: request.headers.authorization, body: new URLSearchParams(text) })
      response.end(JSON.stringify(answer))
    })
  })
})
afterEach(() => issuer.close())

function open(more: object = {}): { verify(token: string): Promise<Verdict | undefined> } {
  const { verify } = introspection({ issuer: issuer.url, resource, ...credentials, ...more })
  return { verify: async (token) => verify(token) }
}

test('the issuer is asked with the credentials of the server, and its answer becomes the caller', async () => {
  const before = Date.now()
  const verdict = (await open().verify('opaque token')) as Accepted
  expect(verdict).toMatchObject({
    auth: { sub: 'ada', clientId: 'robot', scopes: ['notes:read'], issuer: issuer.url },
  })
  expect(verdict.recheckAt).toBeGreaterThanOrEqual(before + 60_000)
  const [{ authorization = '', body } = {}] = asked
  expect(Object.fromEntries(body ?? [])).toEqual({ token: 'opaque token', token_type_hint: 'access_token' })
  const [id, secret] = atob(authorization.replace('Basic ', '')).split(':')
  expect([id, secret].map((part) => new URLSearchParams(`a=${part}`).get('a'))).toEqual(
    Object.values(credentials),
  )
})

test('credentials are sent in the body to issuers that accept them nowhere else', async () => {
  issuer.metadata = {
    ...issuer.metadata,
    introspection_endpoint_auth_methods_supported: ['client_secret_post'],
  }
  expect(await open().verify('token')).toHaveProperty('auth')
  expect(asked[0]?.authorization).toBeUndefined()
  expect(asked[0]?.body.get('client_secret')).toBe(credentials.clientSecret)
})

test('a configured endpoint needs no metadata', async () => {
  expect(await open({ endpoint: issuer.url + INTROSPECT }).verify('token')).toHaveProperty('auth')
  expect(issuer.requests).toEqual([INTROSPECT])
})

test('a rejected token is asked about again after five seconds, and one without an answer at once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { verify } = open()
  answer = { active: false }
  for (let times = 0; times < 3; times++)
    expect(await verify('bad')).toMatchObject({ rejected: 'revoked', why: 'it is not active' })
  expect(asked).toHaveLength(1)
  expect(await verify('other')).toMatchObject({ rejected: 'revoked' })
  expect(asked).toHaveLength(2)
  answer = { ...goodClaims(issuer.url, resource), active: true }
  vi.setSystemTime(Date.now() + 5001)
  expect(await verify('bad')).toHaveProperty('auth')
  issuer.instead.set(INTROSPECT, (_request, response) => void response.writeHead(500).end())
  expect(await verify('late')).toMatchObject({ rejected: 'unavailable' })
  expect(await verify('late')).toMatchObject({ rejected: 'unavailable' })
  expect(issuer.requests.filter((path) => path === INTROSPECT)).toHaveLength(5)
})

test('many requests with one token cause one question', async () => {
  const { verify } = open()
  for (const verdict of await Promise.all(Array.from({ length: 20 }, () => verify('token'))))
    expect(verdict).toHaveProperty('auth')
  expect(asked).toHaveLength(1)
  expect(await verify('token')).toHaveProperty('auth')
  expect(asked).toHaveLength(2)
})

test.each([
  ['A.inactive', 'an inactive token', { active: false }, 'revoked'],
  ['A.active-odd', 'an answer that is only almost yes', { active: 'true' }, 'revoked'],
  ['A.introspected-aud', 'a token for another server', { aud: 'https://other.example' }, 'invalid'],
  ['A.introspected-aud-missing', 'a token for nobody', { aud: undefined }, 'invalid'],
  ['A.introspected-iss', 'a token of another issuer', { iss: 'https://evil.example' }, 'invalid'],
  ['A.introspected-expired', 'an expired token that is still active', { exp: seconds(-300) }, 'expired'],
  ['A.introspected-exp-odd', 'a token with an odd time of expiry', { exp: 'never' }, 'invalid'],
  ['A.introspected-sub', 'a token of nobody', { sub: undefined, client_id: undefined }, 'invalid'],
])('%s %s is rejected', async (_, __, change, rejected) => {
  answer = { ...answer, ...change }
  expect(await open().verify('token')).toHaveProperty('rejected', rejected)
})

test('an answer without a time of expiry is used until it is checked again', async () => {
  answer = { active: true, sub: 'ada', aud: resource }
  expect(await open({ recheck: '5s' }).verify('token')).toMatchObject({ auth: { sub: 'ada', scopes: [] } })
})

test('A.introspection-down an issuer that fails makes the token neither valid nor invalid', async () => {
  for (const status of [500, 401, 302]) {
    issuer.instead.set(INTROSPECT, (_, response) =>
      response.writeHead(status, { location: '/introspect2' }).end(),
    )
    const verdict = (await open().verify('secret token')) as Rejected
    expect(verdict.rejected).toBe('unavailable')
    const { message } = verdict.cause as Error
    expect(message).toContain(`replied with status ${status}`)
    expect(message.includes('does not accept clientId')).toBe(status === 401)
    expect(JSON.stringify([verdict, message])).not.toContain('secret token')
  }
  expect(issuer.requests).not.toContain('/introspect2')
})

test('A.introspection-flood a flood of tokens causes a limited number of questions at once', async () => {
  let most = 0
  let now = 0
  issuer.instead.set(INTROSPECT, (_, response) => {
    most = Math.max(most, ++now)
    setTimeout(() => {
      now--
      response.end('{"active":false}')
    }, 20)
  })
  const { verify } = open()
  const verdicts = await Promise.all(Array.from({ length: 1000 }, (_, at) => verify(`token-${at}`)))
  expect(most).toBeLessThanOrEqual(64)
  expect(verdicts.filter((one) => (one as Rejected).rejected === 'revoked')).toHaveLength(64)
})

test.each([
  [{ clientSecret: '' }, 'clientSecret must be a text that is not empty'],
  [{ clientId: undefined }, 'clientId is missing'],
  [{ endpoint: 'http://id.example/introspect' }, 'endpoint must be an https URL'],
  [{ recheck: 'soon' }, 'recheck must be a duration'],
])('wrong options are explained: %j', (change, message) => {
  expect(() => open(change)).toThrow(message)
})
