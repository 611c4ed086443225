import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { TokenError } from '../../src/auth/client/token-error.ts'
import { workload, workloadGrant, type WorkloadOptions } from '../../src/auth/client/workload.ts'
import { oauth } from '../../src/auth.ts'
import { callerOf, guard } from '../auth/guarded.ts'
import { startSmallIssuer } from '../auth/small-issuer.ts'
import {
  contextOf,
  everythingOf,
  failureOf,
  SERVER,
  serveTokens,
  type Asked,
  type Told,
  type Tried,
} from './grants-context.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** The platform that gives identities to workloads, and the issuer that trusts it. */
const platform = await startSmallIssuer(SERVER)
const issuer = await startSmallIssuer(SERVER)
afterAll(async () => {
  await platform.close()
  await issuer.close()
})

/** Verifies the identity of a workload, and gives it a token. */
async function exchange({ form }: Asked): Promise<Told> {
  const keys = createLocalJWKSet({ keys: [...platform.keys] })
  try {
    const { payload } = await jwtVerify(form.get('assertion')!, keys, {
      issuer: platform.url,
      audience: issuer.url,
    })
    const scope = form.get('scope') ?? 'notes:read'
    if (scope.includes('forbidden')) return { status: 400, body: { error: 'invalid_scope' } }
    const aud = form.get('resource')
    const token = await issuer.sign({ sub: payload.sub, scope, aud })
    return { body: { access_token: token, token_type: 'Bearer', expires_in: 300, refresh_token: 'again' } }
  } catch {
    return { status: 400, body: { error: 'invalid_grant', error_description: 'the assertion is not valid' } }
  }
}

let context: Tried
beforeEach(() => {
  const { metadata } = serveTokens(issuer, exchange, { token_endpoint_auth_methods_supported: ['none'] })
  context = contextOf(metadata)
})

function identity(claims: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return platform.sign({ sub: 'system:serviceaccount:ci', aud: issuer.url, ...claims }, { typ: 'JWT' })
}

test('a workload gets a token for its identity, and a server accepts it', async () => {
  const asked: unknown[] = []
  const grant = workloadGrant({
    clientId: 'robot',
    jwt: (target) => {
      asked.push(target)
      return identity()
    },
  })
  const { tokens } = await grant.obtain({ ...context, scopes: ['notes:read', 'notes:write'] })
  expect(asked).toEqual([{ issuer: issuer.url, resource: SERVER }])
  expect(tokens).toMatchObject({
    type: 'bearer',
    scopes: ['notes:read', 'notes:write'],
    refreshToken: undefined,
  })
  const [sent] = context.sent
  expect(Object.fromEntries(sent!.form)).toMatchObject({
    grant_type: JWT_BEARER,
    client_id: 'robot',
    resource: SERVER,
    scope: 'notes:read notes:write',
  })
  const server = await guard(oauth({ issuer: issuer.url, resource: SERVER }))
  const reply = await server.call({ authorization: `Bearer ${tokens.accessToken}` })
  expect(callerOf(reply)).toMatchObject({ sub: 'system:serviceaccount:ci' })
  expect(grant).toMatchObject({ isInteractive: false, clientId: 'robot' })
})

test('a workload needs no client id', async () => {
  await workloadGrant({ jwt: () => identity() }).obtain(context)
  const [sent] = context.sent
  expect([...sent!.form.keys()].sort()).toEqual(['assertion', 'grant_type', 'resource'])
  expect(sent!.headers.get('authorization')).toBeNull()
})

test('each request has a new assertion, and blanks around it do not matter', async () => {
  const grant = workloadGrant({ jwt: async () => `${await identity()}\n` })
  await grant.obtain(context)
  await grant.obtain(context)
  const [first, second] = context.sent.map(({ form }) => form.get('assertion'))
  expect(first).not.toBe(second)
  expect(first).toBe(first?.trim())
})

describe('an identity that the issuer rejects', () => {
  const rows: readonly (readonly [string, WorkloadOptions['jwt'], readonly string[] | undefined, string])[] =
    [
      ['that has expired', () => identity({ exp: 1 }), undefined, 'invalid_grant'],
      ['of another platform', () => identity({ iss: 'https://other.example' }), undefined, 'invalid_grant'],
      ['for scopes that it may not have', () => identity(), ['forbidden'], 'invalid_scope'],
    ]
  test.each(rows)('%s is an error; nothing else is tried', async (_, jwt, scopes, code) => {
    const failure = await failureOf(workloadGrant({ jwt }).obtain({ ...context, scopes }))
    expect(failure).toBeInstanceOf(TokenError)
    expect(failure).toMatchObject({ code })
    expect(context.sent).toHaveLength(1)
    expect(everythingOf(failure)).not.toContain(context.sent[0]!.form.get('assertion'))
  })
})

describe('an identity for somebody else', () => {
  test.each([
    ['https://other.example', 'https://other.example'],
    [['https://other.example', `${issuer.url}0`], 'https://other.example'],
    [undefined, 'nobody'],
    [{ odd: true }, 'nobody'],
  ])('with the audience %j is not sent', async (aud, named) => {
    const failure = await failureOf(workloadGrant({ jwt: () => identity({ aud }) }).obtain(context))
    expect(failure).toBeInstanceOf(TokenError)
    expect(failure.message).toContain(named)
    expect(failure.message).toContain(issuer.url)
    expect(context.sent).toEqual([])
  })

  test.each([
    ['the issuer with a slash', () => `${issuer.url}/`],
    ['its token endpoint', () => `${issuer.url}/token`],
    ['the issuer and others', () => ['https://other.example', issuer.url]],
  ])('is not what %s means', async (_, aud) => {
    await workloadGrant({ jwt: () => identity({ aud: aud() }) })
      .obtain(context)
      .catch(() => undefined)
    expect(context.sent).toHaveLength(1)
  })

  test('is sent if the options name the issuer, which may expect any audience', async () => {
    const jwt = (): Promise<string> => identity({ aud: 'api://exchange' })
    const failure = await failureOf(workloadGrant({ jwt, issuer: issuer.url }).obtain(context))
    expect(failure).toMatchObject({ code: 'invalid_grant' })
    expect(context.sent).toHaveLength(1)
  })
})

describe('a function that gives no identity', () => {
  const rows: readonly (readonly [string, () => unknown, string])[] = [
    ['throws', () => Promise.reject(new Error('no such file')), 'no such file'],
    ['returns nothing', () => undefined, 'JSON Web Token'],
    ['returns an empty text', () => ' ', 'JSON Web Token'],
    ['returns something else', () => 'not.a.token', 'JSON Web Token'],
    ['returns a text that nobody can send', () => 'a b', 'JSON Web Token'],
  ]
  test.each(rows)('because it %s is an error', async (_, jwt, word) => {
    const failure = await failureOf(workloadGrant({ jwt: jwt as () => string }).obtain(context))
    expect(failure).toBeInstanceOf(TokenError)
    expect(failure.message).toContain(word)
    expect(failure.message).toContain('jwt')
    expect(context.sent).toEqual([])
  })

  test('in time is not waited for when nobody waits', async () => {
    const controller = new AbortController()
    const jwt = (): Promise<string> => {
      controller.abort(new Error('nobody waits'))
      return new Promise(() => {})
    }
    const waiting = workloadGrant({ jwt }).obtain({ ...context, signal: controller.signal })
    await expect(waiting).rejects.toThrow('nobody waits')
  })
})

test('options are checked', () => {
  const method = workload({ jwt: () => 'a.b.c', scopes: ['notes:read'] })
  expect(method.name).toBe('workload')
  const wrong: readonly (readonly [object, string])[] = [
    [{}, 'jwt'],
    [{ jwt: 'eyJ' }, 'a function'],
    [{ jwt: () => '', clientId: '' }, 'clientId'],
    [{ jwt: () => '', secret: 's' }, 'secret'],
  ]
  for (const [options, word] of wrong) expect(() => workload(options as WorkloadOptions)).toThrow(word)
})
