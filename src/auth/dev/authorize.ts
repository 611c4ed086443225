import { expandScopes } from '../scopes.ts'
import type { Client } from './clients.ts'
import { Form } from './form.ts'
import { checkResource, findClient, type Issuer } from './issuer.ts'
import { descriptionOf, OAuthError } from './oauth-error.ts'
import { randomText } from '../digests.ts'
import { matchesRedirect } from './redirects.ts'

/** An authorization request that passed all checks. */
export interface LoginRequest {
  readonly client: Client
  readonly redirectUri: string
  readonly state: string | undefined
  readonly scopes: readonly string[]
  readonly resource: string
  readonly challenge: string
  readonly nonce: string | undefined
}

/** What a user answered. */
export type Decision =
  | {
      /** The subject to log in as. */
      readonly sub: string
      /** The scopes to allow. Default: all that the client asks for. */
      readonly scopes?: readonly string[] | undefined
    }
  | 'deny'

/** The request, or where to send the user with an error instead. */
export type ReadLogin = { readonly login: LoginRequest } | { readonly redirect: string }

/** Reads an authorization request. Throws if it must not be redirected anywhere, because its target cannot be trusted. */
export async function readLogin(issuer: Issuer, params: URLSearchParams): Promise<ReadLogin> {
  const form = new Form(params)
  const client = await findClient(issuer, form.need('client_id'))
  const redirectUri = readRedirect(client, form)
  const state = form.get('state')
  try {
    return { login: { client, redirectUri, state, ...readRest(issuer, form) } }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { redirect: errorRedirect(issuer, { redirectUri, state }, error) }
  }
}

function readRedirect({ redirectUris }: Client, form: Form): string {
  const [only] = redirectUris
  const asked = form.get('redirect_uri') ?? (redirectUris.length === 1 ? only : undefined)
  if (asked === undefined) throw new OAuthError('invalid_request', 'the parameter redirect_uri is missing')
  if (redirectUris.some((registered) => matchesRedirect(registered, asked))) return asked
  throw new OAuthError('invalid_request', 'redirect_uri is not one that the client registered')
}

function readRest(issuer: Issuer, form: Form): Omit<LoginRequest, 'client' | 'redirectUri' | 'state'> {
  if (form.get('request') !== undefined || form.get('request_uri') !== undefined)
    throw new OAuthError('request_not_supported', 'send the parameters themselves, not a request object')
  if (form.need('response_type') !== 'code')
    throw new OAuthError('unsupported_response_type', 'response_type must be code')
  if ((form.get('response_mode') ?? 'query') !== 'query')
    throw new OAuthError('invalid_request', 'response_mode must be query')
  if (form.get('prompt') === 'none')
    throw new OAuthError('interaction_required', 'the user is asked each time; remove prompt=none')
  const challenge = form.get('code_challenge')
  if (challenge === undefined)
    throw new OAuthError('invalid_request', 'code_challenge is missing; PKCE with S256 is required')
  if (form.get('code_challenge_method') !== 'S256')
    throw new OAuthError('invalid_request', 'code_challenge_method must be S256')
  if (!/^[\w-]{43}$/.test(challenge))
    throw new OAuthError('invalid_request', 'code_challenge must be a SHA-256 digest in base64url')
  const resource = checkResource(issuer, form.resources)
  return { challenge, resource, scopes: form.scopes ?? issuer.scopes, nonce: form.get('nonce') }
}

/** Where to send the user after the decision, with a code or an error. */
export function decide(issuer: Issuer, login: LoginRequest, decision: Decision): string {
  try {
    const code = createCode(issuer, login, decision)
    return redirectTo(issuer, login, { code })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return errorRedirect(issuer, login, error)
  }
}

function createCode(issuer: Issuer, login: LoginRequest, decision: Decision): string {
  const { client, redirectUri, challenge, nonce, resource } = login
  if (decision === 'deny') throw new OAuthError('access_denied', 'the user refused')
  const user = issuer.users.find(decision.sub)
  if (user === undefined) throw new OAuthError('access_denied', 'there is no such user')
  const { scopes: chosen = login.scopes } = decision
  const own = user.scopes && expandScopes(user.scopes, issuer.includes)
  const scopes = login.scopes.filter((scope) => chosen.includes(scope) && (own?.includes(scope) ?? true))
  if (scopes.length === 0 && login.scopes.length > 0)
    throw new OAuthError('access_denied', 'the user has or grants none of these scopes')
  const { id: clientId, refreshes } = client
  const grant = { id: randomText(12), clientId, user, scopes, resource, refreshes }
  return issuer.grants.createCode({ grant, redirectUri, challenge, nonce })
}

type Target = Pick<LoginRequest, 'redirectUri' | 'state'>

function errorRedirect(issuer: Issuer, target: Target, error: OAuthError): string {
  return redirectTo(issuer, target, { error: error.code, error_description: descriptionOf(error) })
}

/** The redirect URI with the answer. `iss` tells the client which server answers (RFC 9207). */
function redirectTo(
  issuer: Issuer,
  { redirectUri, state }: Target,
  answer: Readonly<Record<string, string>>,
): string {
  const params = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: issuer.url })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${params}`
}
