import { decodeJwt } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'
import type { DevAuth } from 'pierhead/auth/dev'
import { Flow, newClient, post, REDIRECT, register, RESOURCE, serve, startDev } from './dev-flow.ts'

afterEach(() => void vi.useRealTimers())

const BAD_GRANT = { status: 400, body: { error: 'invalid_grant' } }

/** Lets the clock of the authorization server run ahead. */
function wait(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}

async function openFlow(): Promise<{ readonly dev: DevAuth; readonly flow: Flow }> {
  const dev = await startDev()
  return { dev, flow: new Flow(dev, await newClient(dev)) }
}

test('the authorization server takes the measures of OAuth 2.1: PKCE, exact redirects, codes for one use, refresh tokens that are replaced, no other grants, and its name in each answer [S4-6-3]', async () => {
  const { dev, flow } = await openFlow()
  const { issuer } = dev
  expect(await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()).toMatchObject({
    issuer,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  })

  // PKCE with SHA-256 is required, and no token comes from the authorization endpoint.
  for (const changes of [
    { code_challenge: undefined },
    { code_challenge_method: 'plain' },
    { response_type: 'token' },
  ]) {
    const answer = Object.fromEntries(await flow.login(changes))
    expect(answer).toMatchObject({ error: expect.any(String) as string, iss: issuer, state: 'abc' })
    expect(Object.keys(answer)).not.toContain('code')
    expect(Object.keys(answer)).not.toContain('access_token')
  }
  // An attempt with another verifier uses up the code.
  const tried = await flow.code()
  expect(await flow.exchange(tried, { code_verifier: 'x'.repeat(43) })).toMatchObject(BAD_GRANT)
  expect(await flow.exchange(tried)).toMatchObject(BAD_GRANT)

  for (const redirect_uri of [`${REDIRECT}/`, `${REDIRECT}?x=1`, 'https://evil.example/callback']) {
    const reply = await fetch(flow.url({ redirect_uri }), { redirect: 'manual' })
    expect([reply.status, reply.headers.get('location')]).toEqual([400, null])
  }

  for (const grant_type of ['password', 'client_credentials', 'implicit'])
    expect(await flow.exchange('x', { grant_type, username: 'alice', password: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    })

  // The second use of a code revokes what the first one brought.
  const login = await flow.login()
  expect([login.get('iss'), login.get('state')]).toEqual([issuer, 'abc'])
  const code = login.get('code') as string
  const stolen = (await flow.exchange(code)).body
  expect(await flow.isActive(stolen['access_token'])).toBe(true)
  expect(await flow.exchange(code)).toMatchObject(BAD_GRANT)
  expect(await flow.isActive(stolen['access_token'])).toBe(false)
  expect(await flow.refresh(stolen['refresh_token'])).toMatchObject(BAD_GRANT)

  // A refresh token is replaced; its second use revokes the whole family.
  const first = (await flow.exchange(await flow.code())).body
  const second = (await flow.refresh(first['refresh_token'])).body
  expect(second['refresh_token']).not.toBe(first['refresh_token'])
  wait(11_000)
  expect(await flow.refresh(first['refresh_token'])).toMatchObject(BAD_GRANT)
  expect(await flow.refresh(second['refresh_token'])).toMatchObject(BAD_GRANT)
  expect(await flow.isActive(second['access_token'])).toBe(false)

  // Codes expire, and tokens are for one server.
  const late = await flow.code()
  expect(decodeJwt(first['access_token'] as string).aud).toBe(RESOURCE)
  expect(Object.fromEntries(await flow.login({ resource: 'https://other.example' }))).toMatchObject({
    error: 'invalid_target',
  })
  wait(61_000)
  expect(await flow.exchange(late)).toMatchObject(BAD_GRANT)
})

test('access tokens are short-lived: an hour or what the option says, after which they are rejected and a refresh brings another [S4-7-7]', async () => {
  for (const [tokenTtl, seconds] of [
    [undefined, 3600],
    ['90s', 90],
  ] as const) {
    vi.useRealTimers()
    const dev = await startDev(tokenTtl === undefined ? {} : { tokenTtl })
    const flow = new Flow(dev, await newClient(dev))
    const { body } = await flow.exchange(await flow.code())
    const token = body['access_token'] as string
    const { exp = 0, iat = 0 } = decodeJwt(token)
    expect([body['expires_in'], exp - iat]).toEqual([seconds, seconds])
    expect(await dev.verify(token)).toMatchObject({ auth: { sub: 'alice' } })
    wait((seconds + 1) * 1000)
    expect(await dev.verify(token)).toMatchObject({ rejected: 'expired' })
    expect(await flow.isActive(token)).toBe(false)
    const refreshed = (await flow.refresh(body['refresh_token'])).body['access_token'] as string
    expect(await dev.verify(refreshed)).toMatchObject({ auth: { sub: 'alice' } })
  }
})

test('the authorization server supports dynamic registration (RFC 7591), next to client metadata documents [S4-6-4]', async () => {
  const dev = await startDev()
  const found = (await (await fetch(`${dev.issuer}/.well-known/oauth-authorization-server`)).json()) as object
  expect(found).toMatchObject({
    registration_endpoint: `${dev.issuer}/register`,
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
  })

  const metadata = { client_name: 'Notes', redirect_uris: [REDIRECT], grant_types: ['authorization_code'] }
  const open = await register(dev, { ...metadata, token_endpoint_auth_method: 'none' })
  expect(open.status).toBe(201)
  expect(open.headers.get('cache-control')).toBe('no-store')
  expect(open.body).toMatchObject({
    ...metadata,
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
  })
  expect(open.body['client_id_issued_at']).toBeCloseTo(Date.now() / 1000, -2)
  expect(Object.keys(open.body)).not.toContain('client_secret')
  const flow = new Flow(dev, open.body['client_id'] as string)
  expect((await flow.exchange(await flow.code())).status).toBe(200)

  // A client with a secret must send it.
  const closed = await register(dev, { redirect_uris: [REDIRECT] })
  expect(closed.body).toMatchObject({
    token_endpoint_auth_method: 'client_secret_basic',
    client_secret_expires_at: 0,
  })
  const { client_id: id, client_secret: secret } = closed.body as { client_id: string; client_secret: string }
  const secretive = new Flow(dev, id)
  expect(await secretive.exchange(await secretive.code())).toMatchObject({ status: 401 })
  const authorization = `Basic ${btoa(`${id}:${secret}`)}`
  const form = {
    grant_type: 'authorization_code',
    code: await secretive.code(),
    redirect_uri: REDIRECT,
    code_verifier: secretive.verifier,
    resource: RESOURCE,
  }
  expect((await post(dev, '/token', form, { authorization })).status).toBe(200)

  for (const [wrong, error] of [
    [{ redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [REDIRECT], grant_types: ['implicit'] }, 'invalid_client_metadata'],
  ] as const)
    expect(await register(dev, wrong)).toMatchObject({ status: 400, body: { error } })

  const origin = await serve((_, response) => {
    const document = {
      client_id: `${origin}/client.json`,
      redirect_uris: [REDIRECT],
      client_name: 'Document',
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  const published = new Flow(dev, `${origin}/client.json`)
  expect((await published.exchange(await published.code())).status).toBe(200)
})
