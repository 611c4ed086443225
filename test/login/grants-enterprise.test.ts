import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { enterprise, enterpriseGrant, type EnterpriseOptions } from '../../src/auth/client/enterprise.ts'
import { TokenError } from '../../src/auth/client/token-error.ts'
import { oauth } from '../../src/auth.ts'
import { callerOf, guard } from '../auth/guarded.ts'
import { METADATA, startSmallIssuer } from '../auth/small-issuer.ts'
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

const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const OPENID = '/.well-known/openid-configuration'
/** The identity provider of a company, and the issuer of a server. */
const idp = await startSmallIssuer(SERVER)
const issuer = await startSmallIssuer(SERVER)
afterAll(async () => {
  await idp.close()
  await issuer.close()
})

/** The identity provider: verifies who the user is, and says so to the issuer of the server. */
async function assertIdentity({ form }: Asked): Promise<Told> {
  const keys = createLocalJWKSet({ keys: [...idp.keys] })
  const facts = {
    grant: form.get('grant_type'),
    from: form.get('subject_token_type'),
    to: form.get('requested_token_type'),
  }
  const wanted = { grant: 'urn:ietf:params:oauth:grant-type:token-exchange', from: ID_TOKEN, to: ID_JAG }
  if (JSON.stringify(facts) !== JSON.stringify(wanted))
    return { status: 400, body: { error: 'invalid_request' } }
  try {
    const { payload } = await jwtVerify(form.get('subject_token')!, keys, {
      issuer: idp.url,
      audience: form.get('client_id')!,
    })
    if (payload.sub === 'mallory')
      return { status: 400, body: { error: 'access_denied', error_description: 'the policy forbids it' } }
    const claims = { aud: form.get('audience'), resource: form.get('resource'), scope: 'notes:read' }
    const jag = await idp.sign(
      { sub: payload.sub, client_id: 'desktop', ...claims },
      { typ: 'oauth-id-jag+jwt' },
    )
    return {
      body: {
        access_token: jag,
        issued_token_type: ID_JAG,
        token_type: 'N_A',
        scope: 'notes:read',
        expires_in: 60,
      },
    }
  } catch {
    return { status: 400, body: { error: 'invalid_grant' } }
  }
}

/** The issuer of the server: trusts the identity provider. */
async function exchange({ form, headers }: Asked): Promise<Told> {
  const keys = createLocalJWKSet({ keys: [...idp.keys] })
  const assertion = form.get('assertion')!
  try {
    expect(headers.authorization).toBe(`Basic ${btoa('desktop:secret-of-desktop')}`)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    expect(decodeProtectedHeader(assertion).typ).toBe('oauth-id-jag+jwt')
    const { payload } = await jwtVerify(assertion, keys, { issuer: idp.url, audience: issuer.url })
    expect(payload).toMatchObject({ client_id: 'desktop', resource: SERVER })
    const token = await issuer.sign({ sub: payload.sub, scope: form.get('scope'), aud: form.get('resource') })
    return { body: { access_token: token, token_type: 'Bearer', expires_in: 300, refresh_token: 'again' } }
  } catch {
    return { status: 400, body: { error: 'invalid_grant' } }
  }
}

let context: Tried
beforeEach(() => {
  for (const path of [METADATA, OPENID]) idp.instead.delete(path)
  idp.metadata = { token_endpoint: `${idp.url}/token`, token_endpoint_auth_methods_supported: ['none'] }
  serveTokens(idp, assertIdentity)
  context = contextOf(serveTokens(issuer, exchange).metadata, { scopes: ['notes:read', 'notes:write'] })
})

function idToken(sub: string = 'ada'): Promise<string> {
  return idp.sign({ sub, aud: 'desktop-at-idp', client_id: undefined, scope: undefined }, { typ: 'JWT' })
}

const OPTIONS = {
  clientId: 'desktop',
  clientSecret: 'secret-of-desktop',
  idToken: () => idToken(),
  provider: { issuer: idp.url, clientId: 'desktop-at-idp' },
}

test('a user who is logged in at work gets a token, and a server accepts it', async () => {
  const grant = enterpriseGrant(OPTIONS)
  const { tokens, registration } = await grant.obtain(context)
  expect(registration).toBeUndefined()
  // The company allowed fewer scopes than the client asked for.
  expect(tokens).toMatchObject({ type: 'bearer', scopes: ['notes:read'], refreshToken: undefined })
  const server = await guard(oauth({ issuer: issuer.url, resource: SERVER }))
  const reply = await server.call({ authorization: `Bearer ${tokens.accessToken}` })
  expect(callerOf(reply)).toMatchObject({ sub: 'ada', scopes: ['notes:read'] })
  const [first, second] = context.sent.filter(({ url }) => url.endsWith('/token'))
  expect(Object.fromEntries(first!.form)).toMatchObject({
    audience: issuer.url,
    resource: SERVER,
    scope: 'notes:read notes:write',
    client_id: 'desktop-at-idp',
  })
  expect(first!.url).toBe(`${idp.url}/token`)
  expect(second!.form.get('scope')).toBe('notes:read')
  expect(context.steps).toEqual([
    `read the metadata of the issuer at ${idp.url}${METADATA}`,
    `request a token from ${idp.url}/token (urn:ietf:params:oauth:grant-type:token-exchange, none)`,
    `request a token from ${issuer.url}/token (urn:ietf:params:oauth:grant-type:jwt-bearer, client_secret_basic)`,
  ])
  expect(grant).toMatchObject({ isInteractive: false, clientId: 'desktop' })
})

test('the identity provider is found with either kind of metadata, or not searched for', async () => {
  const ways: readonly (readonly [EnterpriseOptions['provider'], readonly string[]])[] = [
    [OPTIONS.provider, [METADATA]],
    [{ ...OPTIONS.provider, tokenEndpoint: `${idp.url}/token` }, []],
  ]
  for (const [provider, paths] of ways) {
    idp.requests.length = 0
    await enterpriseGrant({ ...OPTIONS, provider }).obtain(context)
    expect(idp.requests).toEqual([...paths, '/token'])
  }
  idp.instead.set(METADATA, (_, response) => response.writeHead(404).end())
  idp.instead.set(OPENID, (_, response) => {
    const body = { issuer: idp.url, token_endpoint: `${idp.url}/token` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  idp.requests.length = 0
  await enterpriseGrant(OPTIONS).obtain(context)
  expect(idp.requests).toEqual([METADATA, OPENID, '/token'])
})

test('an assertion of SAML is exchanged as such', async () => {
  const { asked } = serveTokens(idp, () => ({ status: 400, body: { error: 'invalid_grant' } }))
  const { idToken: _, ...rest } = OPTIONS
  const failure = await failureOf(
    enterpriseGrant({ ...rest, samlAssertion: () => 'PHNhbWw-' }).obtain(context),
  )
  expect(failure).toMatchObject({ code: 'invalid_grant' })
  expect(Object.fromEntries(asked[0]!.form)).toMatchObject({
    subject_token: 'PHNhbWw-',
    subject_token_type: 'urn:ietf:params:oauth:token-type:saml2',
  })
})

test('the client authenticates to the identity provider with what it has there', async () => {
  idp.metadata = { ...idp.metadata, token_endpoint_auth_methods_supported: ['client_secret_post'] }
  const { asked } = serveTokens(idp, assertIdentity)
  const provider = { ...OPTIONS.provider, clientSecret: 'secret-at-idp' }
  await enterpriseGrant({ ...OPTIONS, provider }).obtain(context)
  expect(asked[0]!.form.get('client_secret')).toBe('secret-at-idp')
  const [last] = context.sent.slice(-1)
  expect(last!.form.toString()).not.toContain('secret-at-idp')
})

test('requests to the identity provider use the fetch for what the user configured', async () => {
  const urls: string[] = []
  const fetchFor: Tried['fetchFor'] = (url) => {
    urls.push(url.href)
    return fetch
  }
  await enterpriseGrant(OPTIONS).obtain({ ...context, fetchFor })
  expect(urls).toEqual([`${idp.url}/`])
  expect(context.sent.map(({ url }) => url)).toEqual([`${issuer.url}/token`])
})

describe('a login fails', () => {
  const fail = async (options: EnterpriseOptions = OPTIONS): Promise<TokenError> => {
    const failure = await failureOf(enterpriseGrant(options).obtain(context))
    expect(failure).toBeInstanceOf(TokenError)
    for (const { form } of context.sent)
      for (const name of ['subject_token', 'assertion'])
        if (form.has(name)) expect(everythingOf(failure)).not.toContain(form.get(name))
    return failure as TokenError
  }
  const isUnused = (): void => expect(context.sent.map(({ url }) => url)).not.toContain(`${issuer.url}/token`)

  test('if the policy of the company forbids it', async () => {
    const failure = await fail({ ...OPTIONS, idToken: () => idToken('mallory') })
    expect(failure).toMatchObject({ code: 'access_denied' })
    expect(failure.message).toContain('the policy forbids it')
    isUnused()
  })

  test('if the ID token is for another client', async () => {
    const failure = await fail({ ...OPTIONS, provider: { issuer: idp.url, clientId: 'another' } })
    expect(failure).toMatchObject({ code: 'invalid_grant' })
    isUnused()
  })

  test('if the identity provider gives another kind of token', async () => {
    const body = { access_token: 'a', token_type: 'bearer', issued_token_type: 'urn:other' }
    serveTokens(idp, () => ({ body }))
    expect((await fail()).message).toContain('id-jag')
    isUnused()
  })

  test('if the identity provider has no metadata, or those of another', async () => {
    idp.metadata = { issuer: 'https://other.example' }
    const failure = await fail()
    expect(failure.message).toContain(idp.url)
    expect(failure.message).toContain('tokenEndpoint')
    expect(context.sent.every(({ form }) => form.size === 0)).toBe(true)
  })

  test('C.oauth-token-foreign if the token endpoint of the identity provider is on another origin, unless the program names it', async () => {
    const elsewhere = idp.url.replace('127.0.0.1', '127.0.0.2')
    idp.metadata = { ...idp.metadata, token_endpoint: `${elsewhere}/token` }
    const failure = await fail()
    expect(failure.message).toContain(`the token_endpoint of the issuer ${idp.url} is on ${elsewhere}`)
    expect(failure.message).toContain('name the tokenEndpoint of the provider')
    expect(failure.message).not.toContain('allowOrigins')
    expect(context.sent.every(({ form }) => form.size === 0)).toBe(true)
    const named = { ...OPTIONS.provider, tokenEndpoint: `${idp.url}/token` }
    expect((await enterpriseGrant({ ...OPTIONS, provider: named }).obtain(context)).tokens.type).toBe(
      'bearer',
    )
  })

  test('if the metadata cannot be read, and the error shows the first problem', async () => {
    idp.instead.set(METADATA, (_, response) => response.writeHead(200).end('no JSON'))
    expect((await fail()).message).toContain(`${idp.url}${METADATA} is not metadata of an issuer`)
  })

  test('if nobody waits any more for the metadata', async () => {
    const leaving = new AbortController()
    idp.instead.set(METADATA, () => leaving.abort(new Error('nobody waits')))
    const tried = enterpriseGrant(OPTIONS).obtain({ ...context, signal: leaving.signal })
    await expect(tried).rejects.toThrow('nobody waits')
  })

  test('if the issuer of the server rejects the assertion', async () => {
    const failure = await fail({ ...OPTIONS, clientSecret: 'wrong-secret' })
    expect(failure).toMatchObject({ code: 'invalid_grant' })
    expect(failure.message).toContain(issuer.url)
    expect(context.sent.filter(({ url }) => url === `${issuer.url}/token`)).toHaveLength(1)
  })

  test('if the function has no ID token', async () => {
    const failure = await fail({ ...OPTIONS, idToken: () => '' })
    expect(failure.message).toContain('idToken')
    expect(context.sent).toEqual([])
  })
})

test('options are checked', () => {
  expect(enterprise({ ...OPTIONS, issuer: 'https://id.example' }).name).toBe('enterprise')
  const { idToken: _, ...without } = OPTIONS
  const wrong: readonly (readonly [object, string])[] = [
    [{ ...OPTIONS, provider: undefined }, 'provider'],
    [{ ...OPTIONS, clientId: undefined }, 'clientId'],
    [OPTIONS, 'clientSecret needs the option issuer'],
    [without, 'idToken'],
    [{ ...OPTIONS, samlAssertion: () => 'x' }, 'one of them'],
    [{ ...OPTIONS, idToken: 'eyJ' }, 'a function'],
    [{ ...OPTIONS, provider: { issuer: 'http://id.example', clientId: 'x' } }, 'https'],
    [{ ...OPTIONS, provider: { issuer: 'https://id.example' } }, 'clientId'],
    [{ ...OPTIONS, provider: { ...OPTIONS.provider, tokenEndpoint: 'http://id.example/token' } }, 'https'],
    [{ ...OPTIONS, provider: { ...OPTIONS.provider, scopes: [] } }, 'scopes'],
    [{ ...OPTIONS, provider: { ...OPTIONS.provider, algorithm: 'ES256' } }, 'algorithm'],
  ]
  for (const [options, word] of wrong) expect(() => enterprise(options as EnterpriseOptions)).toThrow(word)
})
