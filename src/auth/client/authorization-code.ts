import {
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import type { Grant, GrantContext } from './grant.ts'
import { LoginDenied, LoginProblem, quoted, shownUrl } from './problem.ts'
import { pushRequest } from './pushed-request.ts'
import type { LoginRequest, Redirect } from './redirect.ts'
import { refreshTokens } from './refresh.ts'
import { findRegistration, type ClientDescription } from './registration.ts'
import { chooseAuthentication, type TokenClient } from './token-endpoint.ts'
import { purposeOf, readTokens, requestTokens } from './token-request.ts'
import type { StoredRegistration, StoredTokens } from './vault.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** What sets one authorization code grant apart from another. */
export interface CodeOptions {
  readonly identity: ClientDescription
  /** Prepares to receive the answer of the issuer. `preferred` are the URIs that a stored registration has. */
  openRedirect(context: GrantContext, preferred: readonly string[]): Promise<Redirect>
}

/** One authorization request. Its parts belong together, so they are kept together and used once. */
interface CodeRequest extends LoginRequest {
  readonly verifier: string
}

/** The longest URL of a login page. Issuers and browsers accept hardly more, and a longer one would flood the terminal. */
const MAX_URL = 8_192

/** The authorization code grant with PKCE, in which a person logs in on a page of the issuer. */
export function createAuthorizationCode({ identity, openRedirect }: CodeOptions): Grant {
  const { clientId, clientSecret } = identity
  const clientOf = (registration: StoredRegistration | undefined): TokenClient => {
    const known = clientId === undefined ? registration : { clientId, clientSecret }
    if (known === undefined) throw new LoginProblem('the tokens have no client id')
    return { clientId: known.clientId, secret: known.clientSecret, authMethod: known.authMethod }
  }
  return {
    name: 'authorization code',
    isInteractive: true,
    clientId,
    clientOf,
    async obtain(context) {
      const redirect = await openRedirect(context, context.registration?.redirectUris ?? [])
      let resume: (() => void) | undefined
      try {
        const registration = await findRegistration(context, identity, redirect.uri)
        const request = await createRequest(context, registration, redirect.uri)
        context.step(`log in at ${request.url.origin}`)
        resume = context.pauseClocks?.()
        const answer = await redirect.receive(request)
        resume?.()
        const tokens = await exchange(context, request, answer)
        // An id that the program has anyway is not worth keeping, and its secret should not be in two places.
        return clientId === undefined ? { tokens, registration } : { tokens }
      } finally {
        redirect.close()
        resume?.()
      }
    },
    async refresh(context, refreshToken) {
      return { tokens: await refreshTokens(context, clientOf(context.registration), refreshToken) }
    },
  }
}

async function createRequest(
  context: GrantContext,
  registration: StoredRegistration,
  redirectUri: string,
): Promise<CodeRequest> {
  const { dpop, scopes } = context
  const url = endpointOf(context)
  const [state, verifier] = [generateRandomState(), generateRandomCodeVerifier()]
  const { resource, scope } = purposeOf(context)
  const params: Readonly<Record<string, string | undefined>> = {
    response_type: 'code',
    client_id: registration.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource,
    scope,
    // OpenID Connect gives refresh tokens only if the user is asked.
    prompt: scopes?.includes('offline_access') === true ? 'consent' : undefined,
    dpop_jkt: await dpop?.calculateThumbprint(),
  }
  const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const shown = await pushRequest(context, registration, Object.fromEntries(given))
  for (const [name, value] of Object.entries(shown)) url.searchParams.set(name, value)
  const { length } = url.href
  if (length > MAX_URL)
    throw new LoginProblem(
      `the URL of the login page of ${shownUrl(parseUrl(context.issuer.issuer))} has ${length} characters, and at most ${MAX_URL} are opened`,
    )
  return { url, state, verifier, redirectUri, registration }
}

/** The page of the issuer. Its metadata chooses the URL, which a person opens, so only web pages are accepted. */
function endpointOf({ issuer, allowsHttp }: GrantContext): URL {
  const { authorization_endpoint: given } = issuer
  if (given === undefined) throw new LoginProblem(`${issuer.issuer} names no authorization_endpoint`)
  const url = isUrl(given) ? parseUrl(given) : undefined
  const isWeb = url?.protocol === 'https:' || (allowsHttp && url?.protocol === 'http:')
  if (url === undefined || !isWeb || url.username !== '' || url.password !== '')
    throw new LoginProblem(
      `${issuer.issuer} has an authorization_endpoint that is never opened: ${quoted(given)}`,
    )
  url.hash = ''
  return url
}

async function exchange(context: GrantContext, request: CodeRequest, answer: URL): Promise<StoredTokens> {
  const { issuer, resource } = context
  const { registration, redirectUri, state, verifier } = request
  const { clientId, clientSecret: secret, authMethod } = registration
  context.step(`check the answer of ${issuer.issuer}`)
  const client = { client_id: clientId }
  const params = checkAnswer(context, client, answer, state)
  const { method, authenticate } = chooseAuthentication(issuer, { clientId, secret, authMethod })
  context.step(`exchange the code at ${issuer.token_endpoint} (${method})`)
  const response = await requestTokens(
    context,
    (options) =>
      authorizationCodeGrantRequest(issuer, client, authenticate, params, redirectUri, verifier, {
        ...options,
        ...(resource !== undefined && { additionalParameters: { resource } }),
      }),
    (reply) => processAuthorizationCodeResponse(issuer, client, reply),
  )
  return readTokens(response, context)
}

/** Checks state and issuer (RFC 9207) before anything else of the answer is believed, also its errors. */
function checkAnswer(
  { issuer }: GrantContext,
  client: { readonly client_id: string },
  { searchParams }: URL,
  state: string,
): URLSearchParams {
  const [iss] = searchParams.getAll('iss')
  if (iss !== undefined && iss !== issuer.issuer)
    throw new LoginProblem(
      `the answer comes from another issuer than ${issuer.issuer}: iss is ${quoted(iss)}`,
    )
  try {
    return validateAuthResponse(issuer, client, searchParams, state)
  } catch (thrown) {
    if (!(thrown instanceof AuthorizationResponseError)) throw new LoginProblem((thrown as Error).message)
    const { error, error_description: description } = thrown
    const reason = description === undefined ? quoted(error) : `${quoted(error)}, ${quoted(description)}`
    const Problem = error === 'access_denied' ? LoginDenied : LoginProblem
    throw new Problem(`${issuer.issuer} answered the login with the error ${reason}`)
  }
}
