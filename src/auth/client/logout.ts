import {
  allowInsecureRequests,
  customFetch,
  processRevocationResponse,
  revocationRequest,
  type AuthorizationServer,
} from 'oauth4webapi'
import { orAborted } from '../../base/backoff.ts'
import { mcpError } from '../../errors/error.ts'
import { VAULT_FAILED } from '../../errors/vault.ts'
import { readPlace, type Place } from './place.ts'
import { LoginProblem } from './problem.ts'
import { reasonOf } from './reason.ts'
import { abortable, isExpired, issuerOf, vaultFailure, type Setup } from './setup.ts'
import { Steps } from './steps.ts'
import { chooseAuthentication } from './token-endpoint.ts'
import { toTokenError } from './token-error.ts'
import type { StoredCredentials } from './vault.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** What became of the login at one issuer. The client has forgotten its tokens in any case. */
export interface LoggedOut {
  /** The issuer that gave the tokens. */
  readonly issuer: string
  /** Whether the issuer confirmed that it accepts none of the tokens any more. */
  readonly revoked: boolean
  /** Why they are not revoked: whoever has a copy can use it until it expires. Default: they are. */
  readonly reason?: string | undefined
}

type Removed = readonly (readonly [Place, StoredCredentials])[]

/** Removes all credentials for a server from the vault, until a signal aborts. */
export async function removeLogins(setup: Setup, signal: AbortSignal): Promise<Removed> {
  const { vault, owner, server } = setup
  const removed: Removed[number][] = []
  try {
    for (const key of await orAborted(vault.keys(), signal)) {
      const place = readPlace(key, owner, server)
      if (place === undefined) continue
      const remove = async (
        current: StoredCredentials | undefined,
      ): Promise<StoredCredentials | undefined> => {
        if (signal.aborted) return current
        if (current?.tokens !== undefined) removed.push([place, current])
        return undefined
      }
      // Somebody else may hold the entry while an issuer takes its time to answer.
      await orAborted(vault.update(key, remove, signal), signal)
    }
  } catch (thrown) {
    if (thrown !== signal.reason || !signal.aborted) throw vaultFailure(vault, thrown)
    const reason = 'somebody else is still changing them, so they are not removed; log out again'
    throw mcpError(VAULT_FAILED, { path: vault.name, reason }, { retryable: true })
  }
  return removed
}

/** Lets the issuers revoke the tokens that were removed, until a signal aborts. */
export function revokeLogins(
  setup: Setup,
  removed: Removed,
  signal: AbortSignal,
): Promise<readonly LoggedOut[]> {
  return Promise.all(removed.map(([place, stored]) => revokeAll(setup, place, stored, signal)))
}

async function revokeAll(
  setup: Setup,
  place: Place,
  { registration, tokens }: StoredCredentials,
  signal: AbortSignal,
): Promise<LoggedOut> {
  const { issuer } = place
  // An issuer may revoke everything with the refresh token, so it is the first.
  const kinds = [
    ['refresh_token', tokens?.refreshToken],
    ['access_token', tokens === undefined || isExpired(tokens) ? undefined : tokens.accessToken],
  ] as const
  const revoked: string[] = []
  try {
    const metadata = await issuerOf(setup, place, new Steps(setup.server), signal)
    for (const [hint, token] of kinds) {
      if (token === undefined) continue
      await revoke(setup, { metadata, registration, hint, token, signal })
      revoked.push(hint)
    }
    return { issuer, revoked: true }
  } catch (thrown) {
    const cause = signal.aborted ? 'the issuer took too long' : reasonOf(thrown)
    // Many issuers cannot revoke access tokens, which live only minutes.
    const rest = 'the refresh token is revoked, and the access token is good until it expires'
    return { issuer, revoked: false, reason: revoked.length === 0 ? cause : `${rest}: ${cause}` }
  }
}

interface Revocation {
  readonly metadata: AuthorizationServer
  readonly registration: StoredCredentials['registration']
  readonly hint: 'refresh_token' | 'access_token'
  readonly token: string
  readonly signal: AbortSignal
}

/** Asks an issuer to revoke a token (RFC 7009). */
async function revoke(
  { grant, fetch, allowsHttp }: Setup,
  { metadata, registration, hint, token, signal }: Revocation,
): Promise<void> {
  const endpoint = endpointOf(metadata)
  const own = await grant.clientOf(registration)
  const client = { client_id: own.clientId ?? '' }
  const { authenticate } = chooseAuthentication(metadata, own)
  const send = abortable(fetch, signal)
  try {
    const response = await revocationRequest(metadata, client, authenticate, token, {
      [customFetch]: (url, request) => send(url, request as RequestInit),
      [allowInsecureRequests]: allowsHttp,
      additionalParameters: { token_type_hint: hint },
    })
    await processRevocationResponse(response)
  } catch (thrown) {
    const { secret } = own
    throw await toTokenError(thrown, {
      endpoint,
      secrets: new Set([token, ...(secret === undefined ? [] : [secret])]),
    })
  }
}

/** The endpoint gets tokens and the credentials of the client, so it must be where these are sent anyway. */
function endpointOf({
  issuer,
  revocation_endpoint: endpoint,
  token_endpoint: trusted,
}: AuthorizationServer): string {
  if (endpoint === undefined) throw new LoginProblem(`${issuer} does not offer to revoke tokens`)
  if (isUrl(endpoint) && parseUrl(endpoint).origin === parseUrl(trusted as string).origin) return endpoint
  throw new LoginProblem(`${issuer} revokes tokens elsewhere than it gives them, and is not asked to`)
}
