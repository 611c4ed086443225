import type { Client } from './clients.ts'
import type { Form } from './form.ts'
import type { Code, Grant } from './grants.ts'
import { checkResource, createAccessToken, readAccessToken, type Issuer } from './issuer.ts'
import { OAuthError } from './oauth-error.ts'
import { digestOf, isSame, randomText } from '../digests.ts'

/** Exchanges a code, a refresh token or the credentials of a service for tokens. */
export function exchange(issuer: Issuer, client: Client, form: Form): Promise<object> {
  const type = form.need('grant_type')
  if (type === 'authorization_code') return exchangeCode(issuer, client, form)
  if (type === 'refresh_token') return refresh(issuer, client, form)
  if (type === 'client_credentials' && !issuer.services.isEmpty) return serve(issuer, client, form)
  throw new OAuthError(
    'unsupported_grant_type',
    'use authorization_code or refresh_token; for client_credentials, list the service: devAuth({ clients: [{ clientId, clientSecret }] })',
  )
}

/** Gives a service a token on its own behalf (RFC 6749, section 4.4). */
async function serve(issuer: Issuer, client: Client, form: Form): Promise<object> {
  const service = issuer.services.get(client.id)
  if (service === undefined)
    throw new OAuthError(
      'unauthorized_client',
      'only services get tokens on their own behalf; list this one: devAuth({ clients: [{ clientId, clientSecret }] })',
    )
  const { id, scopes: allowed } = service
  const scopes = form.scopes ?? allowed ?? issuer.scopes
  const extra = scopes.find((scope) => allowed?.includes(scope) === false)
  if (extra !== undefined)
    throw new OAuthError('invalid_scope', `the service ${id} may not have the scope ${extra}`)
  const resource = checkResource(issuer, form.resources)
  const user = { sub: id }
  const grant = { id: randomText(12), clientId: id, user, scopes, resource, refreshes: false }
  return tokens(issuer, { grant, scopes, nonce: undefined })
}

async function exchangeCode(issuer: Issuer, client: Client, form: Form): Promise<object> {
  // An attempt uses up the code, so that nobody can try verifiers.
  const code = issuer.grants.takeCode(form.need('code'))
  if (code === undefined) throw invalid('the code is unknown, has expired or was used; log in again')
  const { grant } = code
  if (grant.clientId !== client.id) throw invalid('the code was issued to another client')
  if (form.need('redirect_uri') !== code.redirectUri)
    throw invalid('redirect_uri differs from the one of the authorization request')
  await checkVerifier(code, form.need('code_verifier'))
  checkSameResource(issuer, grant, form)
  return tokens(issuer, { grant, scopes: grant.scopes, nonce: code.nonce })
}

async function checkVerifier({ challenge }: Code, verifier: string): Promise<void> {
  if (!/^[\w.~-]{43,128}$/.test(verifier))
    throw new OAuthError('invalid_request', 'code_verifier must have 43 to 128 letters, digits, - . _ or ~')
  if (!isSame(challenge, await digestOf(verifier)))
    throw invalid('code_verifier does not fit the code_challenge')
}

async function refresh(issuer: Issuer, client: Client, form: Form): Promise<object> {
  const token = form.need('refresh_token')
  const grant = issuer.grants.findRefreshToken(token)
  if (grant === undefined || grant.clientId !== client.id)
    throw invalid('the refresh token is unknown, or has expired, or was used or revoked; log in again')
  checkSameResource(issuer, grant, form)
  const { scopes = grant.scopes } = form
  const extra = scopes.find((scope) => !grant.scopes.includes(scope))
  if (extra !== undefined)
    throw new OAuthError(
      'invalid_scope',
      `the user did not grant the scope ${extra}; log in again to ask for it`,
    )
  return issuer.grants.useRefreshToken(token, () => tokens(issuer, { grant, scopes, nonce: undefined }))
}

function checkSameResource(issuer: Issuer, grant: Grant, form: Form): void {
  if (checkResource(issuer, form.resources) !== grant.resource)
    throw new OAuthError('invalid_target', `the user granted access to ${grant.resource} only`)
}

async function tokens(
  issuer: Issuer,
  issued: { readonly grant: Grant; readonly scopes: readonly string[]; readonly nonce: string | undefined },
): Promise<object> {
  const { grant, scopes, nonce } = issued
  return {
    access_token: await createAccessToken(issuer, grant, scopes, issuer.tokenMs),
    token_type: 'Bearer',
    expires_in: Math.floor(issuer.tokenMs / 1_000),
    scope: scopes.join(' '),
    ...(grant.refreshes && { refresh_token: issuer.grants.createRefreshToken(grant) }),
    ...(scopes.includes('openid') && { id_token: await createIdToken(issuer, grant, nonce) }),
  }
}

/** The token that tells the client who logged in (OpenID Connect). */
function createIdToken(
  issuer: Issuer,
  { user, clientId }: Grant,
  nonce: string | undefined,
): Promise<string> {
  const iat = Math.floor(Date.now() / 1_000)
  const exp = iat + Math.floor(issuer.tokenMs / 1_000)
  const claims = { iss: issuer.url, sub: user.sub, aud: clientId, iat, exp, name: user.name ?? user.sub }
  return issuer.keys.sign('JWT', { ...claims, ...(nonce !== undefined && { nonce }) })
}

/** Revokes a token of a client (RFC 7009). Tokens that are unknown need not be revoked. */
export async function revoke(issuer: Issuer, client: Client, form: Form): Promise<void> {
  const token = form.need('token')
  const grant = issuer.grants.findRefreshToken(token)
  if (grant !== undefined) {
    if (grant.clientId === client.id) issuer.grants.revoke(grant.id)
    return
  }
  const claims = await readAccessToken(issuer, token)
  if (claims?.jti !== undefined && claims['client_id'] === client.id) issuer.grants.revoke(claims.jti)
}

/** Describes an access token to the MCP server (RFC 7662). */
export async function introspect(issuer: Issuer, client: Client, form: Form): Promise<object> {
  if (client.id !== issuer.introspector.id)
    throw new OAuthError('unauthorized_client', 'only the MCP server may introspect tokens', 403)
  const claims = await readAccessToken(issuer, form.need('token'))
  if (claims === undefined) return { active: false }
  return { active: true, token_type: 'Bearer', ...claims, username: claims.sub }
}

function invalid(message: string): OAuthError {
  return new OAuthError('invalid_grant', message)
}
