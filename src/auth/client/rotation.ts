import type { AuthorizationServer } from 'oauth4webapi'
import { openDpop } from './dpop.ts'
import type { Flight } from './flight.ts'
import type { GrantContext } from './grant.ts'
import { isRejectedGrant, isUndecided, isUnknownClient } from './reason.ts'
import type { Place } from './place.ts'
import { isExpired, isUnbound, toHeld, type Held, type Setup } from './setup.ts'
import type { Steps } from './steps.ts'
import { TokenError } from './token-error.ts'
import type { StoredCredentials, StoredTokens } from './vault.ts'

/**
 * Gets other tokens for a place without a login: those that someone else stored meanwhile, or new ones for the refresh token. The
 * entry is locked meanwhile, so that no refresh token is used twice. Undefined if there are none; a refresh token that is invalid is removed.
 */
export async function rotate(
  setup: Setup,
  place: Place,
  issuer: () => Promise<AuthorizationServer>,
  rejected: string | undefined,
  steps: Steps,
  { signal, cancelled }: Pick<Flight<unknown>, 'signal' | 'cancelled'>,
): Promise<Held | undefined> {
  // Without tokens there is nothing to lock, and no reason to create a file.
  if ((await setup.vault.read(place.key))?.tokens === undefined) return undefined
  let isNew = false
  const change = async (current: StoredCredentials | undefined): Promise<StoredCredentials | undefined> => {
    const tokens = current?.tokens
    if (tokens === undefined || isUnbound(setup, tokens) || isUsable(tokens, rejected)) return current
    if (tokens.refreshToken === undefined || setup.grant.refresh === undefined) return current
    const refreshed = await refresh(setup, place, await issuer(), current as Refreshable, steps, cancelled)
    isNew = refreshed.tokens !== undefined && refreshed.tokens !== tokens
    return refreshed
  }
  const stored = await setup.vault.update(place.key, change, signal)
  const held = await toHeld(setup, place, stored, isNew ? 'refreshed' : 'stored', steps)
  return held !== undefined && (isNew || isUsable(held.tokens, rejected)) ? held : undefined
}

/** Whether tokens may be accepted. Those that were rejected, or that expired, are not. */
function isUsable(tokens: StoredTokens, rejected: string | undefined): boolean {
  return tokens.accessToken !== rejected && !isExpired(tokens)
}

type Refreshable = StoredCredentials & {
  readonly tokens: StoredTokens & { readonly refreshToken: string }
}

async function refresh(
  setup: Setup,
  place: Place,
  issuer: AuthorizationServer,
  { tokens: old, ...kept }: Refreshable,
  steps: Steps,
  signal: AbortSignal,
): Promise<StoredCredentials> {
  const { registration, dpopKey, pending } = kept
  const dpop = old.type === 'dpop' ? await openDpop(dpopKey) : undefined
  const context: GrantContext = {
    ...setup,
    resource: place.resource,
    issuer,
    // Without the parameter, the issuer keeps the scopes.
    scopes: undefined,
    registration,
    dpop: dpop?.handle,
    // An answer that nobody reads would lose the new refresh token, so only a logout ends the request.
    signal,
    step: steps.begin,
  }
  steps.begin(`use the refresh token at ${issuer.issuer}`)
  try {
    const { tokens, registration: used = registration } = await setup.grant.refresh!(
      context,
      old.refreshToken,
    )
    const { refreshToken = old.refreshToken, scopes = old.scopes } = tokens
    const denied = old.denied?.filter((scope) => scopes?.includes(scope) !== true)
    return { ...kept, registration: used, tokens: { ...tokens, refreshToken, scopes, denied } }
  } catch (thrown) {
    if (!(thrown instanceof TokenError) || isUndecided(thrown)) throw thrown
    // The credentials of the options may be corrected; a client that registered itself can only register again.
    const isUnknown = isUnknownClient(thrown) && setup.grant.clientId === undefined
    if (!isUnknown && !isRejectedGrant(thrown)) {
      steps.note(`could not use the refresh token: ${thrown.message}`)
      return { ...kept, tokens: old }
    }
    steps.note(`forgot the refresh token, which the issuer rejects with ${thrown.code}`)
    const day = new Date().toISOString().slice(0, 10)
    const lost = `the issuer rejected the refresh token with ${thrown.code} on ${day}`
    return isUnknown ? { dpopKey, pending, lost } : { ...kept, lost }
  }
}
