import express from 'express'
import type { AddressInfo } from 'node:net'
import * as oauth from 'oauth4webapi'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from 'pierhead'
import { introspection, oauth as jwt } from 'pierhead/auth'
import type { DevAuth } from 'pierhead/auth/dev'
import { connect } from 'pierhead/client'
import { Flow, newClient, REDIRECT, RESOURCE, startDev } from './dev-flow.ts'

const INSECURE = { [oauth.allowInsecureRequests]: true }

interface LoggedIn {
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly auth: oauth.ClientAuth
  readonly tokens: oauth.TokenEndpointResponse
}

/** Logs in with a strict client library, which checks every answer. */
async function logIn(dev: DevAuth, algorithm: 'oauth2' | 'oidc', method?: string): Promise<LoggedIn> {
  const issuer = new URL(dev.issuer)
  const found = await oauth.discoveryRequest(issuer, { algorithm, ...INSECURE })
  const server = await oauth.processDiscoveryResponse(issuer, found)
  const metadata = {
    redirect_uris: [REDIRECT],
    client_name: 'Strict',
    token_endpoint_auth_method: method ?? 'none',
  }
  const registered = await oauth.dynamicClientRegistrationRequest(server, metadata, INSECURE)
  const client = await oauth.processDynamicClientRegistrationResponse(registered)
  const secret = client['client_secret'] as string
  const auth =
    method === 'client_secret_basic'
      ? oauth.ClientSecretBasic(secret)
      : method === 'client_secret_post'
        ? oauth.ClientSecretPost(secret)
        : oauth.None()
  const verifier = oauth.generateRandomCodeVerifier()
  const nonce = oauth.generateRandomNonce()
  const state = oauth.generateRandomState()
  const url = new URL(server.authorization_endpoint as string)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: REDIRECT,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    scope: algorithm === 'oidc' ? 'openid notes' : 'notes',
    resource: RESOURCE,
    state,
    nonce,
  }).toString()
  const answer = oauth.validateAuthResponse(
    server,
    client,
    new URL(await dev.login(url, { sub: 'alice' })),
    state,
  )
  const more = { additionalParameters: { resource: RESOURCE }, ...INSECURE }
  const sent = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    answer,
    REDIRECT,
    verifier,
    more,
  )
  const expected = algorithm === 'oidc' ? { expectedNonce: nonce, requireIdToken: true } : {}
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, sent, expected)
  return { server, client, auth, tokens }
}

test.each([
  ['oauth2', 'none'],
  ['oidc', 'none'],
  ['oauth2', 'client_secret_basic'],
  ['oidc', 'client_secret_post'],
] as const)('a strict client logs in with %s and %s, refreshes and revokes', async (algorithm, method) => {
  const dev = await startDev()
  const { server, client, auth, tokens } = await logIn(dev, algorithm, method)
  expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(algorithm === 'oidc' ? 'alice' : undefined)
  const more = { additionalParameters: { resource: RESOURCE }, ...INSECURE }
  const sent = await oauth.refreshTokenGrantRequest(
    server,
    client,
    auth,
    tokens.refresh_token as string,
    more,
  )
  const fresh = await oauth.processRefreshTokenResponse(server, client, sent)
  expect(fresh.access_token).not.toBe(tokens.access_token)
  const revoked = await oauth.revocationRequest(server, client, auth, fresh.refresh_token as string, INSECURE)
  await oauth.processRevocationResponse(revoked)
  expect(await dev.verify(fresh.access_token)).toMatchObject({ rejected: 'revoked' })
})

test('a strict resource server accepts the tokens', async () => {
  const dev = await startDev()
  const { server, tokens } = await logIn(dev, 'oauth2')
  const request = new Request(RESOURCE, { headers: { authorization: `Bearer ${tokens.access_token}` } })
  const claims = await oauth.validateJwtAccessToken(server, request, RESOURCE, INSECURE)
  expect(claims).toMatchObject({ sub: 'alice', scope: 'notes' })
})

test('the methods for production accept the tokens: oauth and introspection', async () => {
  const resource = 'http://127.0.0.1:3000/mcp'
  const dev = await startDev({ resource })
  const token = await dev.token({ sub: 'alice', scopes: ['notes'] })
  const caller = { auth: { sub: 'alice', scopes: ['notes'], issuer: dev.issuer, clientId: 'dev' } }
  const methods = [
    jwt({ issuer: dev.issuer, resource }),
    introspection({ issuer: dev.issuer, resource, ...dev.credentials }),
  ]
  for (const method of methods) expect(await method.verify(token)).toMatchObject(caller)
  await dev.revoke(token)
  const asked = introspection({ issuer: dev.issuer, resource, ...dev.credentials })
  expect(await asked.verify(token)).not.toHaveProperty('auth')
})

test('a user gives the scopes that the user has, and those they include', async () => {
  const users = [{ sub: 'ann', scopes: ['admin'] }]
  const dev = await startDev({ users, includes: { admin: ['read'] } })
  const flow = new Flow(dev, await newClient(dev))
  const to = await dev.login(flow.url({ scope: 'read write' }), { sub: 'ann' })
  const { body } = await flow.exchange(new URL(to).searchParams.get('code') as string)
  expect(body).toMatchObject({ scope: 'read' })
})

test('a mount in Express is protected with the resource that is given', async () => {
  const web = express()
  const server = await new Promise<ReturnType<typeof web.listen>>((resolve) => {
    const listening = web.listen(0, '127.0.0.1', () => resolve(listening))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const resource = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/mcp`
  const dev = await startDev({ resource })
  const app = createServer({ name: 'notes', version: '1.0.0', auth: dev, log: () => undefined })
  app.tool('whoami', {}, (_input, ctx) => `${ctx.auth?.sub}`)
  onTestFinished(() => app.close())
  web.use('/api/mcp', app.node())
  const json = { 'content-type': 'application/json' }
  const refused = await fetch(resource, { method: 'POST', headers: json, body: '{}' })
  const [, metadata = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  expect(await (await fetch(metadata)).json()).toMatchObject({
    resource,
    authorization_servers: [dev.issuer],
  })
  const headers = { authorization: `Bearer ${await dev.token({ sub: 'bob' })}` }
  await using client = await connect(resource, { headers })
  expect(await client.call('whoami', {})).toBe('bob')
})
