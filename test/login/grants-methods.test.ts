import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clientCredentials, enterprise, memoryVault, workload } from '../../src/auth-client.ts'
import { oauth } from '../../src/auth.ts'
import { connect, type Client } from '../../src/client.ts'
import type { McpError } from '../../src/index.ts'
import type { ClientAuth } from '../../src/transport/http/client/auth-method.ts'
import { startSmallIssuer, type SmallIssuer } from '../auth/small-issuer.ts'
import { startProtected, type Protected } from './engine-server.ts'
import { everythingOf, failureOf, serveTokens, type Asked, type Told } from './grants-context.ts'
import { createClientKey, SECRET, startRealIssuer, type ClientKey, type RealIssuer } from './grants-issuer.ts'

let key: ClientKey
let real: RealIssuer
let strict: RealIssuer
beforeAll(async () => {
  key = await createClientKey('ES256')
  real = await startRealIssuer({ keys: [key] })
  strict = await startRealIssuer({ keys: [key], nonces: true })
})
afterAll(async () => {
  await real.close()
  await strict.close()
})

async function login(url: URL, auth: ClientAuth): Promise<Client> {
  const client = await connect(url.href, { auth })
  onTestFinished(() => client.close())
  return client
}

/** The tokens that a server accepted, each once. */
function acceptedBy({ replies }: Protected): readonly (string | undefined)[] {
  return [...new Set(replies.filter(({ status }) => status === 200).map(({ token }) => token))]
}

const scopes = ['notes:read']

describe('clientCredentials', () => {
  test('logs in with a secret, and asks for more scopes when a tool needs them', async () => {
    const server = await startProtected((resource) => oauth({ issuer: real.url, resource, scopes }))
    const auth = clientCredentials({ clientId: 'basic', clientSecret: SECRET, issuer: real.url })
    const client = await login(server.url, auth)
    expect(await client.call('who')).toBe('basic notes:read')
    expect(await client.call('write')).toBe('notes:read notes:write')
    expect(acceptedBy(server)).toHaveLength(2)
  })

  test('logs in again when the server rejects the token, once for all calls', async () => {
    const server = await startProtected((resource) => oauth({ issuer: real.url, resource, scopes }))
    const client = await login(server.url, clientCredentials({ clientId: 'ES256', key: key.pem }))
    await client.call('who')
    const [first] = acceptedBy(server)
    server.rejected.add(first)
    const texts = await Promise.all(Array.from({ length: 50 }, () => client.call('who')))
    expect(new Set(texts)).toEqual(new Set(['ES256 notes:read']))
    expect(acceptedBy(server)).toHaveLength(2)
  })

  test('binds tokens to a key, with nonces of the issuer and the server', async () => {
    const dpop = { required: true, nonces: true }
    const server = await startProtected((resource) => oauth({ issuer: strict.url, resource, scopes, dpop }))
    const vault = memoryVault()
    const method = (): ClientAuth =>
      clientCredentials({ clientId: 'ES256', key: key.jwk as JsonWebKey, dpop: true, vault })
    expect(await (await login(server.url, method())).call('who')).toBe('ES256 notes:read')
    // The next start uses the stored token, with the key that it is bound to.
    expect(await (await login(server.url, method())).call('who')).toBe('ES256 notes:read')
    const [token, ...others] = acceptedBy(server)
    expect(others).toEqual([])
    expect(decodeJwt(token!)).toMatchObject({ cnf: { jkt: expect.any(String) as string } })
  })

  test('does not send the secret to an issuer that the options do not name', async () => {
    const server = await startProtected((resource) => oauth({ issuer: real.url, resource }))
    const auth = clientCredentials({ clientId: 'basic', clientSecret: SECRET, issuer: 'https://id.example' })
    const failure = (await failureOf(login(server.url, auth))) as McpError
    expect(failure.kind).toBe('login_failed')
    expect(failure.message).toContain('https://id.example')
    expect(failure.message).not.toContain('request a token')
  })

  test('fails with the steps that it took, and without secrets', async () => {
    const server = await startProtected((resource) => oauth({ issuer: real.url, resource }))
    const auth = clientCredentials({ clientId: 'basic', clientSecret: 'a-wrong-secret', issuer: real.url })
    const failure = (await failureOf(login(server.url, auth))) as McpError
    expect(failure.kind).toBe('login_failed')
    expect(failure.message).toContain('invalid_client')
    expect(failure.message).toContain('(client_credentials, client_secret_basic)')
    expect(everythingOf(failure)).not.toContain('a-wrong-secret')
  })
})

/** An issuer that trusts the assertions of another. */
async function startTrusting(trusted: SmallIssuer): Promise<{
  readonly issuer: SmallIssuer
  readonly server: Protected
  readonly asked: readonly Asked[]
}> {
  const issuer = await startSmallIssuer('unused')
  onTestFinished(() => issuer.close())
  const { metadata, asked } = serveTokens(issuer, async ({ form }): Promise<Told> => {
    const keys = createLocalJWKSet({ keys: [...trusted.keys] })
    try {
      const { payload } = await jwtVerify(form.get('assertion')!, keys, { audience: issuer.url })
      const token = await issuer.sign({
        sub: payload.sub,
        aud: form.get('resource'),
        scope: form.get('scope'),
      })
      return { body: { access_token: token, token_type: 'Bearer', expires_in: 300 } }
    } catch {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'not valid' } }
    }
  })
  issuer.metadata = { ...metadata }
  const server = await startProtected((resource) => oauth({ issuer: issuer.url, resource, scopes }))
  return { issuer, server, asked }
}

describe('workload', () => {
  test('logs in with the identity of the platform; a rejected one is reported and nothing else tried', async () => {
    const platform = await startSmallIssuer('unused')
    onTestFinished(() => platform.close())
    const { server, asked } = await startTrusting(platform)
    const jwt = ({ issuer: aud }: { readonly issuer: string }): Promise<string> =>
      platform.sign({ sub: 'job-7', aud }, { typ: 'JWT' })
    expect(await (await login(server.url, workload({ jwt }))).call('who')).toBe('job-7 notes:read')
    expect(asked).toHaveLength(1)
    const expired = workload({ jwt: ({ issuer: aud }) => platform.sign({ aud, exp: 1 }, { typ: 'JWT' }) })
    const failure = (await failureOf(login(server.url, expired))) as McpError
    expect(failure.kind).toBe('login_failed')
    expect(failure.message).toContain('invalid_grant')
    expect(asked).toHaveLength(2)
    expect(everythingOf(failure)).not.toContain(asked[1]!.form.get('assertion'))
  })
})

describe('enterprise', () => {
  test('logs in a user of a company without another login', async () => {
    const idp = await startSmallIssuer('unused')
    onTestFinished(() => idp.close())
    const { server, issuer, asked } = await startTrusting(idp)
    const { metadata } = serveTokens(idp, async ({ form }) => {
      const { sub } = decodeJwt(form.get('subject_token')!)
      const claims = { sub, aud: form.get('audience'), resource: form.get('resource'), client_id: 'desktop' }
      const assertion = await idp.sign(claims, { typ: 'oauth-id-jag+jwt' })
      const issued_token_type = 'urn:ietf:params:oauth:token-type:id-jag'
      return { body: { access_token: assertion, issued_token_type, token_type: 'N_A' } }
    })
    idp.metadata = { ...metadata }
    const auth = enterprise({
      clientId: 'desktop',
      clientSecret: SECRET,
      issuer: issuer.url,
      idToken: () => idp.sign({ sub: 'ada', aud: 'desktop-at-idp' }, { typ: 'JWT' }),
      provider: { issuer: idp.url, clientId: 'desktop-at-idp' },
    })
    expect(await (await login(server.url, auth)).call('who')).toBe('ada notes:read')
    expect(asked).toHaveLength(1)
  })
})

test.each([
  [
    'clientCredentials',
    (): unknown => clientCredentials({ clientId: 'a', key: key.pem, storedOnly: true } as never),
  ],
  ['workload', (): unknown => workload({ jwt: () => '', storedOnly: true } as never)],
  [
    'enterprise',
    (): unknown =>
      enterprise({
        clientId: 'a',
        provider: { issuer: 'https://sso.example', clientId: 'b' },
        idToken: () => '',
        storedOnly: true,
      } as never),
  ],
])('%s asks nobody to log in, so it has no option storedOnly', (_, create) => {
  expect(create).toThrow('there is no option "storedOnly"')
})
