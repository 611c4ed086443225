import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import { clientCredentials, type ClientCredentialsOptions } from 'pierhead/auth/client'
import type { DevAuth, DevClient } from 'pierhead/auth/dev'
import { connect } from 'pierhead/client'
import { post, RESOURCE, startDev } from './dev-flow.ts'

const SECRET = 'a secret: with + signs & 100%'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

interface Pair {
  readonly pem: string
  readonly privateKey: KeyObject
  readonly jwks: { readonly keys: readonly Record<string, unknown>[] }
}

function newKey(): Pair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const jwk = createPublicKey(pem).export({ format: 'jwk' }) as Record<string, unknown>
  return { pem, privateKey, jwks: { keys: [jwk] } }
}

/** Calls a tool as a service, on a server for one test. */
async function whoami(
  clients: readonly DevClient[],
  own: Omit<ClientCredentialsOptions, 'issuer'>,
): Promise<unknown> {
  const dev = await startDev({ scopes: ['notes:read'], clients })
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_, { auth }) => `${auth?.sub} ${auth?.scopes?.join(' ')}`)
  const running = await app.listen({ onUncaught: 'exit', http: { port: 0 } })
  onTestFinished(() => running.close())
  const auth = clientCredentials({ ...own, issuer: dev.issuer } as ClientCredentialsOptions)
  await using client = await connect(running.url as string, { auth })
  return await client.call('whoami')
}

test('a service logs in with a secret or a key', async () => {
  const { pem, jwks } = newKey()
  const clients = [
    { clientId: 'reports', clientSecret: SECRET },
    { clientId: 'nightly', jwks },
  ]
  expect(await whoami(clients, { clientId: 'reports', clientSecret: SECRET })).toBe('reports notes:read')
  expect(await whoami(clients, { clientId: 'nightly', key: pem })).toBe('nightly notes:read')
})

test.each<readonly [string, Omit<ClientCredentialsOptions, 'issuer'>, string]>([
  ['another secret', { clientId: 'reports', clientSecret: 'another' }, 'the secret of the client is wrong'],
  ['a key that is not its own', { clientId: 'nightly', key: newKey().pem }, 'is not signed by a key'],
  ['a key instead of its secret', { clientId: 'reports', key: newKey().pem }, 'is not signed by a key'],
  ['a secret instead of its key', { clientId: 'nightly', clientSecret: SECRET }, 'private_key_jwt'],
  ['an unknown id', { clientId: 'stranger', clientSecret: SECRET }, 'not registered here'],
  [
    'a scope that it may not have',
    { clientId: 'nightly', key: '', scopes: ['notes:erase'] },
    'may not have the scope notes:erase',
  ],
])('a service with %s gets no token, and learns why', async (_, own, text) => {
  const { pem, jwks } = newKey()
  const clients = [
    { clientId: 'reports', clientSecret: SECRET },
    { clientId: 'nightly', jwks, scopes: ['notes:read'] },
  ]
  const given = own.key === '' ? { ...own, key: pem } : own
  await expect(whoami(clients, given)).rejects.toMatchObject({
    kind: 'login_failed',
    message: expect.stringContaining(text) as unknown,
  })
})

test('where no service has keys, one with a key learns what the issuer accepts', async () => {
  const clients = [{ clientId: 'reports', clientSecret: SECRET }]
  await expect(whoami(clients, { clientId: 'reports', key: newKey().pem })).rejects.toMatchObject({
    kind: 'login_failed',
    message: expect.stringMatching(
      /only with none, client_secret_basic, client_secret_post, but its credentials allow only private_key_jwt/,
    ) as unknown,
  })
})

test('the metadata lists what services need only if there are any', async () => {
  const read = async ({ issuer }: DevAuth): Promise<Record<string, unknown>> =>
    (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<
      string,
      unknown
    >
  expect((await read(await startDev()))['grant_types_supported']).not.toContain('client_credentials')
  const secret = await read(await startDev({ clients: [{ clientId: 'a', clientSecret: 'b' }] }))
  expect(secret['grant_types_supported']).toContain('client_credentials')
  expect(secret['token_endpoint_auth_methods_supported']).not.toContain('private_key_jwt')
  const key = await read(await startDev({ clients: [{ clientId: 'a', jwks: newKey().jwks }] }))
  expect(key['token_endpoint_auth_methods_supported']).toContain('private_key_jwt')
  expect(key['token_endpoint_auth_signing_alg_values_supported']).toContain('ES256')
})

test('an assertion counts once, for this issuer and a limited time', async () => {
  const { privateKey, jwks } = newKey()
  const dev = await startDev({ clients: [{ clientId: 'nightly', jwks }] })
  const sign = (changes: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: 'nightly', sub: 'nightly', aud: dev.issuer, iat: now, exp: now + 60, jti: 'one' }
    return new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
  }
  const send = async (client_assertion: string, more: Record<string, string> = {}): Promise<unknown> => {
    const { status } = await post(dev, '/token', {
      grant_type: 'client_credentials',
      resource: RESOURCE,
      client_assertion,
      client_assertion_type: ASSERTION_TYPE,
      ...more,
    })
    return status
  }
  const good = await sign()
  expect(await send(good)).toBe(200)
  expect(await send(good)).toBe(401)
  expect(await send(await sign({ jti: 'two', aud: 'https://id.example' }))).toBe(401)
  expect(await send(await sign({ jti: 'three', iss: 'other' }))).toBe(401)
  expect(await send(await sign({ jti: 'four', exp: 1 }))).toBe(401)
  expect(await send(await sign({ jti: 'five', exp: undefined }))).toBe(401)
  expect(await send(await sign({ jti: undefined }))).toBe(401)
  expect(await send(await sign({ jti: 'six' }), { client_secret: 'both' })).toBe(400)
  expect(await send('nonsense')).toBe(400)
})

test('a client that registered itself gets no tokens on its own behalf', async () => {
  const dev = await startDev({ clients: [{ clientId: 'reports', clientSecret: SECRET }] })
  const reply = await fetch(`${dev.issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: ['http://127.0.0.1/cb'],
      token_endpoint_auth_method: 'client_secret_post',
    }),
  })
  const { client_id, client_secret } = (await reply.json()) as Record<string, string>
  const { status, body } = await post(dev, '/token', {
    grant_type: 'client_credentials',
    resource: RESOURCE,
    client_id: client_id as string,
    client_secret: client_secret as string,
  })
  expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'unauthorized_client' })
})

test.each<readonly [unknown, string]>([
  ['reports', 'clients must be a list'],
  [[{ clientId: 'a' }], 'either clientSecret or jwks'],
  [[{ clientId: 'a', clientSecret: 'b', jwks: { keys: [] } }], 'either clientSecret or jwks'],
  [[{ clientSecret: 'b' }], 'clientId'],
  [[{ clientId: 'mcp-server', clientSecret: 'b' }], 'the server itself'],
  [[{ clientId: 'a', jwks: { keys: [{ kty: 'EC', d: 'private' }] } }], 'public keys'],
  [
    [
      { clientId: 'a', clientSecret: 'b' },
      { clientId: 'a', clientSecret: 'c' },
    ],
    'listed twice',
  ],
])('the option clients: %o is rejected', async (clients, text) => {
  await expect(startDev({ clients } as never)).rejects.toMatchObject({
    kind: 'bad_option',
    message: expect.stringContaining(text) as unknown,
  })
})
