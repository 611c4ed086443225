import { base64url, decodeJwt, decodeProtectedHeader } from 'jose'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { devAuth } from 'pierhead/auth/dev'
import {
  Flow,
  introspect,
  newClient,
  openPage,
  post,
  REDIRECT,
  register,
  RESOURCE,
  startDev,
} from './dev-flow.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

test('it does not start in production', async () => {
  vi.stubEnv('NODE_ENV', 'production')
  await expect(startDev()).rejects.toThrow(/NODE_ENV is production; use oauth\(/)
})

test.each(['0.0.0.0', '::', '192.0.2.1', 'mcp.example'])('it does not listen on %s', async (host) => {
  await expect(startDev({ host })).rejects.toThrow(`other computers could reach "${host}"; use 127.0.0.1`)
})

test.each([
  [{ resource: 'https://mcp.example/mcp' }, 'https://mcp.example/mcp is not on this computer; use oauth('],
  [{ resource: 'mcp' }, 'resource is not a URL'],
  [{ users: [] }, 'name at least one'],
  [{ users: ['ann', 'ann'] }, '"ann" is listed twice'],
  [{ users: [{ sub: 'ann', claims: { aud: 'x' } }] }, 'the claim "aud" is set by the server; remove it'],
  [{ redirectSchemes: ['javascript'] }, 'redirectSchemes must be a list'],
  [{ scopes: ['a b'] }, 'scopes must be a list'],
])('the options %o are rejected', async (options, message) => {
  await expect(startDev(options)).rejects.toThrow(message)
})

test('a port that is in use is an error that says so', async () => {
  const { issuer } = await startDev()
  await expect(startDev({ port: Number(new URL(issuer).port) })).rejects.toThrow(/port \d+ is in use; choose/)
})

test('both discovery documents describe the server', async () => {
  const dev = await startDev()
  for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']) {
    const response = await fetch(dev.issuer + path)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toMatchObject({
      issuer: dev.issuer,
      token_endpoint: `${dev.issuer}/token`,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      grant_types_supported: ['authorization_code', 'refresh_token'],
    })
  }
})

test('a login ends with a token for the resource, the user and the scopes', async () => {
  const dev = await startDev({ users: [{ sub: 'alice', claims: { tenant: 'acme' } }] })
  const flow = new Flow(dev, await newClient(dev))
  const answer = await flow.login()
  expect(Object.fromEntries(answer)).toMatchObject({ state: 'abc', iss: dev.issuer })
  const { status, body, headers } = await flow.exchange(answer.get('code') as string)
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'read write' })
  const token = body['access_token'] as string
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
  expect(decodeJwt(token)).toMatchObject({
    iss: dev.issuer,
    sub: 'alice',
    aud: RESOURCE,
    client_id: flow.clientId,
    scope: 'read write',
    tenant: 'acme',
  })
  expect(await dev.verify(token)).toMatchObject({ auth: { sub: 'alice', scopes: ['read', 'write'] } })
})

test.each([[undefined], ['ann'], [{}]])(
  'a login as %j is an error that shows how to write it',
  async (decision) => {
    const dev = await startDev()
    const login = dev.login('http://127.0.0.1/authorize', decision as never)
    await expect(login).rejects.toThrow(
      "login: say who logs in, or that the user refuses: { sub: 'ann' } or 'deny'",
    )
  },
)

test('openid adds an id token for the client', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const { body } = await flow.exchange(await flow.code({ scope: 'openid', nonce: 'n1' }))
  const token = body['id_token'] as string
  expect(decodeJwt(token)).toMatchObject({ aud: flow.clientId, sub: 'alice', nonce: 'n1', iss: dev.issuer })
  expect(await dev.verify(token)).toMatchObject({ rejected: 'invalid' })
})

test.each([
  [{ code_challenge: 'short' }, 'invalid_request', 'must be a SHA-256 digest'],
  [{ resource: undefined }, 'invalid_target', `send resource=${RESOURCE}`],
  [{ resource: 'http://127.0.0.1:3000/other' }, 'invalid_target', `for ${RESOURCE} only`],
  [{ response_type: 'token' }, 'unsupported_response_type', 'must be code'],
  [{ response_mode: 'fragment' }, 'invalid_request', 'must be query'],
  [{ scope: 'a  b' }, 'invalid_scope', 'one space'],
  [{ prompt: 'none' }, 'interaction_required', 'remove prompt=none'],
  [{ request_uri: 'https://x.example' }, 'request_not_supported', 'send the parameters themselves'],
])('an authorization request with %o is rejected', async (changes, error, text) => {
  const dev = await startDev()
  const answer = await new Flow(dev, await newClient(dev)).login(changes)
  expect(Object.fromEntries(answer)).toMatchObject({ error, state: 'abc', iss: dev.issuer })
  expect(answer.get('error_description')).toContain(text)
  expect(answer.get('code')).toBeNull()
})

test.each([
  [{ code_challenge: undefined }, 'PKCE with S256 is required'],
  [{ code_challenge_method: 'plain' }, 'must be S256'],
  [{ code_challenge_method: undefined }, 'must be S256'],
])('[A.pkce-skipped] an authorization request with %o is rejected', async (changes, text) => {
  const dev = await startDev()
  const answer = await new Flow(dev, await newClient(dev)).login(changes)
  expect(Object.fromEntries(answer)).toMatchObject({
    error: 'invalid_request',
    state: 'abc',
    iss: dev.issuer,
  })
  expect(answer.get('error_description')).toContain(text)
  expect(answer.get('code')).toBeNull()
})

test.each([
  'http://127.0.0.1:4567/other',
  'http://127.0.0.1:4567/callback/',
  'http://127.0.0.1:4567/callback?x=1',
  'http://127.0.0.1:4567/callback#x',
  'http://127.0.0.1.evil.example:4567/callback',
  'http://localhost:4567/callback',
  'http://user@127.0.0.1:4567/callback',
  'https://127.0.0.1:4567/callback',
  'https://evil.example/callback',
])('[A.redirect-foreign] nobody is redirected to %s, which is not registered', async (redirect_uri) => {
  const dev = await startDev()
  const url = new Flow(dev, await newClient(dev)).url({ redirect_uri })
  const response = await fetch(url, { redirect: 'manual' })
  expect(response.status).toBe(400)
  expect(response.headers.get('location')).toBeNull()
  expect(await response.text()).toContain('redirect_uri is not one that the client registered')
  await expect(dev.login(url, { sub: 'alice' })).rejects.toThrow('redirect_uri is not one')
})

test('only the port on this computer may differ from the registered redirect', async () => {
  const dev = await startDev()
  const clientId = await newClient(dev, { redirect_uris: [REDIRECT, 'https://app.example:8443/cb'] })
  const flow = new Flow(dev, clientId)
  const redirect_uri = 'http://127.0.0.1:9999/callback'
  const code = await flow.code({ redirect_uri })
  expect((await flow.exchange(code, { redirect_uri })).status).toBe(200)
  await expect(flow.login({ redirect_uri: 'https://app.example/cb' })).rejects.toThrow('redirect_uri')
})

test.each([
  ['a word', 'nobody'],
  ['an empty object', 'e30'],
  ['null', 'bnVsbA'],
  ['too long', 'x'.repeat(5_000)],
])('an unknown client, whose id is %s, gets a page that says what to do', async (_, id) => {
  const dev = await startDev()
  const response = await fetch(new Flow(dev, id).url(), { redirect: 'manual' })
  expect(response.status).toBe(400)
  expect(await response.text()).toContain('delete the login that your client stored')
})

test('after a restart on the same port, clients need not register again, and users log in again', async () => {
  const first = await startDev()
  const port = Number(new URL(first.issuer).port)
  const id = await newClient(first, { client_name: 'Inspector' })
  const { body: secret } = await register(first, {
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'client_secret_post',
  })
  const tokens = (await new Flow(first, id).exchange(await new Flow(first, id).code())).body
  await first.close()

  const second = await startDev({ port })
  expect(second.issuer).toBe(first.issuer)
  const flow = new Flow(second, id)
  expect((await flow.refresh(tokens['refresh_token'])).body).toMatchObject({ error: 'invalid_grant' })
  expect((await openPage(flow.url())).text).toContain('Inspector')
  expect((await flow.exchange(await flow.code())).status).toBe(200)
  await expect(flow.login({ redirect_uri: 'https://evil.example/callback' })).rejects.toThrow('redirect_uri')
  const confidential = new Flow(second, secret['client_id'] as string)
  const exchange = async (client_secret: string): Promise<number> =>
    (await confidential.exchange(await confidential.code(), { client_secret })).status
  expect(await exchange('wrong')).toBe(401)
  expect(await exchange(secret['client_secret'] as string)).toBe(200)
})

test('a client id cannot bring a redirect that is not allowed', async () => {
  const dev = await startDev()
  const id = base64url.encode(JSON.stringify({ redirect_uris: ['javascript:alert(1)'] }))
  const response = await fetch(new Flow(dev, id).url({ redirect_uri: 'javascript:alert(1)' }), {
    redirect: 'manual',
  })
  expect(response.status).toBe(400)
  expect(response.headers.get('location')).toBeNull()
})

test('the login server has the same port after each start, unless another program has it', async () => {
  const one = await devAuth()
  onTestFinished(() => one.close())
  // Either it has the port, or another program of this computer.
  await expect(startDev({ port: 3999 })).rejects.toThrow('port 3999 is in use')
  const other = await devAuth()
  onTestFinished(() => other.close())
  expect(other.issuer).not.toBe(one.issuer)
  expect(new URL(other.issuer).port).not.toBe('3999')
})

test('a parameter that occurs twice is rejected', async () => {
  const dev = await startDev()
  const url = `${new Flow(dev, await newClient(dev)).url()}&state=def`
  await expect(dev.login(url, { sub: 'alice' })).rejects.toThrow('a parameter occurs twice: state')
})

test('[A.code-reuse] a code that is used twice revokes the tokens of the first use', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const code = await flow.code()
  const { body } = await flow.exchange(code)
  expect(await flow.isActive(body['access_token'])).toBe(true)
  expect(await flow.exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(await flow.isActive(body['access_token'])).toBe(false)
  expect(await dev.verify(body['access_token'] as string)).toMatchObject({ rejected: 'revoked' })
  expect(await flow.refresh(body['refresh_token'])).toMatchObject({ status: 400 })
})

test('a code expires', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const code = await flow.code()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  expect(await flow.exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test.each([
  [{ code_verifier: 'x'.repeat(43) }, 'invalid_grant', 'does not fit'],
  [{ code_verifier: 'short' }, 'invalid_request', '43 to 128'],
  [{ code_verifier: '' }, 'invalid_request', 'code_verifier is missing'],
  [{ redirect_uri: 'http://127.0.0.1:4568/callback' }, 'invalid_grant', 'redirect_uri differs'],
  [{ resource: 'http://127.0.0.1:3000/other' }, 'invalid_target', `for ${RESOURCE} only`],
  [{ resource: '' }, 'invalid_target', 'the resource parameter is missing'],
])('an exchange with %o is rejected, and uses up the code', async (changes, error, text) => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const code = await flow.code()
  const { status, body } = await flow.exchange(code, changes)
  expect({ status, error: body['error'] }).toEqual({ status: 400, error })
  expect(body['error_description']).toContain(text)
  expect((await flow.exchange(code)).status).toBe(400)
})

test('another kind of grant is rejected', async () => {
  const dev = await startDev()
  const reply = await new Flow(dev, await newClient(dev)).exchange('x', { grant_type: 'password' })
  expect(reply).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } })
})

test('a code and a refresh token belong to their client', async () => {
  const dev = await startDev()
  const [flow, thief] = [new Flow(dev, await newClient(dev)), new Flow(dev, await newClient(dev))]
  const stolen = { client_id: thief.clientId }
  const { body } = await flow.exchange(await flow.code(), stolen)
  expect(body).toMatchObject({ error: 'invalid_grant' })
  const tokens = await flow.exchange(await flow.code())
  expect((await flow.refresh(tokens.body['refresh_token'], stolen)).body).toMatchObject({
    error: 'invalid_grant',
  })
})

test('[A.refresh-reuse] a refresh token is replaced, and using it again revokes its whole family', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const first = (await flow.exchange(await flow.code())).body
  const second = (await flow.refresh(first['refresh_token'])).body
  expect(second['refresh_token']).not.toBe(first['refresh_token'])
  expect(decodeJwt(second['access_token'] as string)).toMatchObject({ sub: 'alice', aud: RESOURCE })
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
  const reused = await flow.refresh(first['refresh_token'])
  expect(reused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await flow.refresh(second['refresh_token'])).body).toMatchObject({ error: 'invalid_grant' })
  expect(await flow.isActive(second['access_token'])).toBe(false)
})

test('a client that refreshes twice at the same time gets the same tokens twice', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const first = (await flow.exchange(await flow.code())).body
  const [one, other] = await Promise.all([1, 2].map(() => flow.refresh(first['refresh_token'])))
  expect(one).toMatchObject({ status: 200 })
  expect(other?.body).toEqual(one?.body)
  const thief = new Flow(dev, await newClient(dev))
  expect((await thief.refresh(first['refresh_token'])).status).toBe(400)
  expect((await flow.refresh(one?.body['refresh_token'])).status).toBe(200)
  await post(dev, '/revoke', { token: String(one?.body['refresh_token']), client_id: flow.clientId })
  expect((await flow.refresh(first['refresh_token'])).status).toBe(400)
})

test('a refresh can ask for fewer scopes, and not for more', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const { body } = await flow.exchange(await flow.code())
  const more = await flow.refresh(body['refresh_token'], { scope: 'read admin' })
  expect(more.body).toMatchObject({ error: 'invalid_scope' })
  const fewer = await flow.refresh(body['refresh_token'], { scope: 'read' })
  expect(fewer.body).toMatchObject({ scope: 'read' })
  const again = await flow.refresh(fewer.body['refresh_token'])
  expect(again.body).toMatchObject({ scope: 'read write' })
})

test('a refresh for another resource, or none, is rejected and does not use up the token', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const { body } = await flow.exchange(await flow.code())
  for (const resource of ['', 'https://other.example/mcp']) {
    const { body: reply } = await flow.refresh(body['refresh_token'], { resource })
    expect(reply).toMatchObject({ error: 'invalid_target' })
  }
  expect((await flow.refresh(body['refresh_token'])).status).toBe(200)
})

test('clients can revoke their tokens, and only theirs', async () => {
  const dev = await startDev()
  const flow = new Flow(dev, await newClient(dev))
  const { body } = await flow.exchange(await flow.code())
  const other = await newClient(dev)
  const revoke = (token: unknown, client_id: string): ReturnType<typeof post> =>
    post(dev, '/revoke', { token: String(token), client_id })
  for (const token of [body['access_token'], body['refresh_token'], 'unknown'])
    expect((await revoke(token, other)).status).toBe(200)
  expect(await flow.isActive(body['access_token'])).toBe(true)
  await revoke(body['access_token'], flow.clientId)
  expect(await flow.isActive(body['access_token'])).toBe(false)
  const second = (await flow.refresh(body['refresh_token'])).body
  expect(await flow.isActive(second['access_token'])).toBe(true)
  await revoke(second['refresh_token'], flow.clientId)
  expect(await flow.isActive(second['access_token'])).toBe(false)
  expect((await flow.refresh(second['refresh_token'])).status).toBe(400)
})

test('only the MCP server may introspect tokens', async () => {
  const dev = await startDev()
  const token = await dev.token({ sub: 'bob', scopes: ['read'] })
  expect((await introspect(dev, token)).body).toMatchObject({ active: true, sub: 'bob', scope: 'read' })
  expect((await introspect(dev, 'x')).body).toEqual({ active: false })
  const client_id = await newClient(dev)
  expect((await post(dev, '/introspect', { token, client_id })).status).toBe(403)
  const authorization = `Basic ${btoa(`${dev.credentials.clientId}:wrong`)}`
  expect((await post(dev, '/introspect', { token }, { authorization })).status).toBe(401)
})

test('tokens of the previous key stay valid after a rotation, those before it do not', async () => {
  const dev = await startDev()
  const token = await dev.token({ sub: 'bob' })
  await dev.rotateKeys()
  expect(await dev.verify(token)).toMatchObject({ auth: { sub: 'bob' } })
  expect(await dev.verify(await dev.token({ sub: 'ann' }))).toMatchObject({ auth: { sub: 'ann' } })
  const jwks = (await (await fetch(`${dev.issuer}/jwks`)).json()) as { keys: readonly object[] }
  expect(jwks.keys).toHaveLength(2)
  expect(jwks.keys.some((key) => 'd' in key)).toBe(false)
  await dev.rotateKeys()
  expect(await dev.verify(token)).toMatchObject({ rejected: 'invalid' })
})

test.each([
  [{ resource: 'http://127.0.0.1:3000/other' }, 'invalid'],
  [{ expiresIn: 0 }, 'expired'],
])('a token with %o is rejected', async (options, rejected) => {
  const dev = await startDev()
  expect(await dev.verify(await dev.token({ sub: 'bob', ...options }))).toMatchObject({ rejected })
})

test('clients with a secret must send it, in the way that they registered', async () => {
  const dev = await startDev()
  const { body } = await register(dev, { redirect_uris: [REDIRECT] })
  expect(body).toMatchObject({
    token_endpoint_auth_method: 'client_secret_basic',
    client_secret_expires_at: 0,
  })
  const flow = new Flow(dev, body['client_id'] as string)
  const secret = body['client_secret'] as string
  expect((await flow.exchange(await flow.code())).status).toBe(401)
  expect((await flow.exchange(await flow.code(), { client_secret: secret })).status).toBe(401)
  const basic = async (given: string): Promise<number> => {
    const authorization = `Basic ${btoa(`${flow.clientId}:${given}`)}`
    const params = { grant_type: 'authorization_code', code: await flow.code(), redirect_uri: REDIRECT }
    const rest = { code_verifier: flow.verifier, resource: RESOURCE }
    return (await post(dev, '/token', { ...params, ...rest }, { authorization })).status
  }
  expect(await basic('wrong')).toBe(401)
  expect(await basic(secret)).toBe(200)
})

test.each(['GET', 'PUT', 'DELETE'])('%s is not allowed for tokens', async (method) => {
  const dev = await startDev()
  const response = await fetch(`${dev.issuer}/token`, { method })
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST, OPTIONS')
})

test('web pages may use the endpoints for clients, and not the login page', async () => {
  const dev = await startDev()
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  const token = await fetch(`${dev.issuer}/token`, { method: 'OPTIONS', headers })
  expect(token.status).toBe(204)
  expect(token.headers.get('access-control-allow-origin')).toBe('*')
  expect(token.headers.get('access-control-allow-headers')).toContain('Content-Type')
  for (const path of ['/authorize', '/consent']) {
    const response = await fetch(dev.issuer + path, { method: 'OPTIONS', headers })
    expect(response.status).toBe(405)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  }
})
