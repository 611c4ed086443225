import {
  allowInsecureRequests,
  customFetch,
  processPushedAuthorizationResponse,
  pushedAuthorizationRequest,
} from 'oauth4webapi'
import type { GrantContext } from './grant.ts'
import { LoginProblem, quoted } from './problem.ts'
import { chooseAuthentication } from './token-endpoint.ts'
import { toTokenError, type TokenError } from './token-error.ts'
import type { StoredRegistration } from './vault.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

type Params = Readonly<Record<string, string>>

/**
 * Sends the parameters of an authorization request to the issuer itself if it offers that (RFC 9126), so that nobody on the way can read or
 * change them. Returns those that the browser takes there.
 */
export async function pushRequest(
  context: GrantContext,
  { clientId, clientSecret: secret, authMethod }: StoredRegistration,
  params: Params,
): Promise<Params> {
  const { issuer, fetch, allowsHttp, signal } = context
  const isRequired = issuer.require_pushed_authorization_requests === true
  if (issuer.pushed_authorization_request_endpoint === undefined && !isRequired) return params
  const endpoint = endpointOf(context)
  if (endpoint === undefined) {
    if (!isRequired) return params
    const named = quoted(String(issuer.pushed_authorization_request_endpoint ?? ''))
    throw new LoginProblem(
      `${issuer.issuer} wants authorization requests pushed to ${named}, which is not where its token endpoint is`,
    )
  }
  context.step(`push the authorization request to ${endpoint}`)
  const client = { client_id: clientId }
  const { authenticate } = chooseAuthentication(issuer, { clientId, secret, authMethod })
  try {
    const response = await pushedAuthorizationRequest(
      issuer,
      client,
      authenticate,
      { ...params },
      {
        [customFetch]: (url, request) => fetch(url, request as RequestInit),
        [allowInsecureRequests]: allowsHttp,
        signal,
      },
    )
    const { request_uri: reference } = await processPushedAuthorizationResponse(issuer, client, response)
    return { client_id: clientId, request_uri: reference }
  } catch (thrown) {
    signal.throwIfAborted()
    const error = await toTokenError(thrown, {
      endpoint,
      secrets: new Set(secret === undefined ? [] : [secret]),
    })
    // An endpoint that does not work need not be used; one that rejects the request would do so on its page as well.
    if (isRequired || (error as TokenError).code !== undefined) throw error
    context.step('send the authorization request with the browser, because it could not be pushed')
    return params
  }
}

/** The endpoint gets the credentials of the client, so it must be where these are sent anyway. */
function endpointOf({ issuer }: GrantContext): string | undefined {
  const { pushed_authorization_request_endpoint: endpoint = '', token_endpoint: trusted = '' } = issuer
  const isTrusted =
    typeof endpoint === 'string' && isUrl(endpoint) && parseUrl(endpoint).origin === parseUrl(trusted).origin
  return isTrusted ? endpoint : undefined
}
