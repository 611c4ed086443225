import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  isDPoPNonceError,
  processGenericTokenEndpointResponse,
  type AuthorizationServer,
  type CustomFetchOptions,
  type ProcessTokenResponseOptions,
  type TokenEndpointRequestOptions,
  type TokenEndpointResponse,
} from 'oauth4webapi'
import { readScopes } from '../../rpc/scopes.ts'
import { secondsAfter } from './expiry.ts'
import type { GrantContext } from './grant.ts'
import { chooseAuthentication, type TokenClient } from './token-endpoint.ts'
import { TokenError, toTokenError } from './token-error.ts'
import { isTokenText } from './token-text.ts'
import type { StoredTokens } from './vault.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** What a request for tokens needs to know. */
export type TokenContext = Pick<GrantContext, 'issuer' | 'dpop' | 'fetch' | 'allowsHttp' | 'signal' | 'step'>

/** The parameters of requests for tokens that are secret. */
const SECRETS: readonly string[] = [
  'assertion',
  'client_assertion',
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'subject_token',
]

/** The grant that has a JSON Web Token in place of credentials (RFC 7523). */
export const JWT_BEARER: string = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** Stands for the id of a client that has none; it is never sent. */
const NOBODY = 'nobody'

/**
 * Sends a request for tokens with a function of oauth4webapi and reads the reply with another. The request is sent again if the issuer wants
 * a nonce in its proof. Throws a `TokenError` that contains no secrets.
 */
export async function requestTokens(
  context: TokenContext,
  send: (options: TokenEndpointRequestOptions) => Promise<Response>,
  read: (response: Response) => Promise<TokenEndpointResponse>,
): Promise<TokenEndpointResponse> {
  const { issuer, dpop, signal } = context
  const secrets = new Set<string>()
  const options: TokenEndpointRequestOptions = {
    [allowInsecureRequests]: context.allowsHttp,
    [customFetch]: (url, request) => {
      for (const secret of secretsOf(request)) secrets.add(secret)
      return context.fetch(url, request as RequestInit)
    },
    signal,
    ...(dpop === undefined ? {} : { DPoP: dpop }),
  }
  const attempt = async (): Promise<TokenEndpointResponse> => read(await send(options))
  try {
    return await attempt().catch((thrown: unknown) => {
      if (dpop === undefined || !isDPoPNonceError(thrown)) throw thrown
      return attempt()
    })
  } catch (thrown) {
    signal.throwIfAborted()
    throw await toTokenError(thrown, { endpoint: endpointOf(issuer), secrets })
  }
}

function secretsOf({ body, headers }: CustomFetchOptions<'POST', URLSearchParams>): readonly string[] {
  const values = SECRETS.flatMap((name) => body.getAll(name))
  const basic = /^Basic (.+)$/.exec(headers['authorization'] ?? '')?.[1]
  if (basic === undefined) return values
  const [, secret = ''] = atob(basic).split(':')
  return [...values, basic.replace(/=+$/, ''), secret, ...new URLSearchParams(`=${secret}`).values()]
}

/** The token endpoint of an issuer, for messages. */
function endpointOf({ issuer, token_endpoint: endpoint = issuer }: AuthorizationServer): string {
  if (!isUrl(endpoint)) return issuer
  const { origin, pathname } = parseUrl(endpoint)
  return origin + pathname
}

/** Requests tokens with any grant that needs nothing but parameters. Those that are undefined are left out. */
export async function requestGrant(
  context: TokenContext,
  client: TokenClient,
  grantType: string,
  parameters: Readonly<Record<string, string | undefined>>,
  options: ProcessTokenResponseOptions = {},
): Promise<TokenEndpointResponse> {
  const { issuer, step } = context
  const { method, authenticate } = chooseAuthentication(issuer, client)
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, value)
  const self = { client_id: client.clientId ?? NOBODY }
  step(`request a token from ${endpointOf(issuer)} (${grantType}, ${method})`)
  return requestTokens(
    context,
    (sending) => genericTokenEndpointRequest(issuer, self, authenticate, grantType, form, sending),
    (response) => processGenericTokenEndpointResponse(issuer, self, response, options),
  )
}

/** The parameters that say what a token is for. */
export function purposeOf({
  resource,
  scopes,
}: Pick<GrantContext, 'resource' | 'scopes'>): Readonly<Record<'resource' | 'scope', string | undefined>> {
  return { resource, scope: scopes === undefined || scopes.length === 0 ? undefined : scopes.join(' ') }
}

/** Reads the tokens of a reply. The scopes are those that were asked for, unless the issuer says otherwise. */
export function readTokens(
  {
    access_token: accessToken,
    token_type: type,
    refresh_token: refreshToken,
    ...more
  }: TokenEndpointResponse,
  { issuer, scopes, dpop }: Pick<GrantContext, 'issuer' | 'scopes' | 'dpop'>,
): StoredTokens {
  const { scope, expires_in: seconds } = more
  if (!isTokenText(accessToken))
    throw new TokenError(
      `${issuer.issuer} gave a token that is too long or has characters that headers do not allow`,
    )
  if (type === 'dpop' && dpop === undefined)
    throw new TokenError(`${issuer.issuer} gave a token that is bound to a key; use the option dpop: true`)
  return {
    accessToken,
    type: type === 'dpop' ? 'dpop' : 'bearer',
    refreshToken,
    scopes: scope === undefined ? scopes : readScopes(scope),
    expiresAt:
      seconds === undefined || !Number.isFinite(seconds) ? undefined : secondsAfter(Date.now(), seconds),
  }
}
