import {
  allowInsecureRequests,
  customFetch,
  processPushedAuthorizationResponse,
  pushedAuthorizationRequest,
} from 'oauth4webapi'
import type { GrantContext } from './grant.ts'
import { LoginProblem, quoted } from './problem.ts'
import { chooseAuthentication } from './token-endpoint.ts'
import { toTokenError } from './token-error.ts'
import type { StoredRegistration } from './vault.ts'

type Params = Readonly<Record<string, string>>

/**
 * Sends the parameters of an authorization request to the issuer itself if it accepts them in no other way (RFC 9126). Returns those that
 * the browser takes there.
 */
export async function pushRequest(
  context: GrantContext,
  { clientId, clientSecret: secret, authMethod }: StoredRegistration,
  params: Params,
): Promise<Params> {
  const { issuer, fetch, allowsHttp, signal } = context
  if (issuer.require_pushed_authorization_requests !== true) return params
  const endpoint = endpointOf(context)
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
    throw await toTokenError(thrown, { endpoint, secrets: new Set(secret === undefined ? [] : [secret]) })
  }
}

/** The endpoint gets the credentials of the client, so it must be where these are sent anyway. */
function endpointOf({ issuer }: GrantContext): string {
  const { pushed_authorization_request_endpoint: endpoint = '', token_endpoint: trusted = '' } = issuer
  if (URL.canParse(endpoint) && new URL(endpoint).origin === new URL(trusted).origin) return endpoint
  throw new LoginProblem(
    `${issuer.issuer} wants authorization requests pushed to ${quoted(endpoint)}, which is not where its token endpoint is`,
  )
}
