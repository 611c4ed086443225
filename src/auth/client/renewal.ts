import { listOf } from './token-endpoint.ts'
import type { AuthorizationServer } from 'oauth4webapi'
import { McpError } from '../../errors/error.ts'
import { clip } from '../../base/clip.ts'
import { canonicalOf } from './canonical.ts'
import { chooseScopes } from './choose-scopes.ts'
import { openDpop } from './dpop.ts'
import type { Flight } from './flight.ts'
import type { GrantContext, Obtained, StepUp } from './grant.ts'
import type { Need } from './need.ts'
import { placeOf, readPlace, type Place } from './place.ts'
import type { LoginHistory } from './login-history.ts'
import { loginRate } from './login-rate.ts'
import { inTurn } from './login-turn.ts'
import { LoginDenied, LoginProblem, LoginRefused } from './problem.ts'
import { isUnknownClient } from './reason.ts'
import { LoginTimeout } from './redirect.ts'
import { findResource, type FoundResource } from './resource.ts'
import { rotate } from './rotation.ts'
import {
  abortable,
  isExpired,
  issuerOf,
  isUnbound,
  rateKeyOf,
  refreshTime,
  toHeld,
  type Held,
  type Setup,
} from './setup.ts'
import { Steps, type Lack } from './steps.ts'
import type { StoredCredentials, StoredTokens, Vault } from './vault.ts'

/** Registrations that are kept per server, at issuers that it does not name any more. */
const MAX_LEFT = 4
/** Scopes that are remembered because an issuer did not grant them. */
const MAX_DENIED = 100

/** One rejected request, and what is known when other credentials are looked for. */
export interface Renewal {
  readonly need: Need
  /** The credentials that were rejected; undefined if the request had none. */
  readonly held: Held | undefined
  readonly flight: Flight<unknown>
  /** The steps of a refresh that failed before the request was sent. */
  readonly before: Steps | undefined
  /** The logins so far. */
  readonly history: LoginHistory
}

/** Gets credentials that the server may accept in place of those that it rejected. Throws an `McpError` that lists the steps. */
export async function renew(setup: Setup, renewal: Renewal): Promise<Held> {
  const { held } = renewal
  const steps = new Steps(
    setup.server,
    renewal.before ?? (held?.isAccepted === false ? held.steps : undefined),
  )
  renewal.flight.steps = steps
  try {
    return await find(setup, renewal, steps)
  } catch (thrown) {
    const isReported = thrown instanceof McpError && thrown.kind.startsWith('login_')
    throw isReported ? thrown : steps.failed(thrown)
  }
}

async function find(setup: Setup, renewal: Renewal, steps: Steps): Promise<Held> {
  const { need, held, flight } = renewal
  const { server, vault } = setup
  if (need.status === undefined && held !== undefined) {
    const { place } = held
    steps.note(`found that the login lacks scopes of the options: ${need.scopes?.join(' ')}`)
    const found = { resource: place.resource, issuers: [place.issuer], scopes: undefined }
    return findAt(setup, { ...renewal, place, found, steps })
  }
  steps.note(`sent a request, to which the server replied with status ${need.status}`)
  steps.begin('find the metadata of the server')
  const fetch = abortable(setup.fetch, flight.signal)
  const found = await findResource({ server, metadataUrl: need.metadataUrl, fetch, step: steps.note })
  const { place, left } = await choosePlace(setup, found, steps)
  const next = await findAt(setup, { ...renewal, place, found, steps })
  // Only now it is sure that the server moved; its metadata may have been wrong for a moment.
  for (const [at, { key }] of left.entries())
    await vault.update(key, at < left.length - MAX_LEFT ? forget : withoutTokens)
  return next
}

interface PlacedRenewal extends Renewal {
  readonly place: Place
  readonly found: FoundResource
  readonly steps: Steps
}

/** Gets credentials of one issuer: from the vault, with a refresh token, or with a login. */
async function findAt(setup: Setup, renewal: PlacedRenewal): Promise<Held> {
  const { need, held, place, steps, flight } = renewal
  const isSamePlace = held?.place.key === place.key
  if (isSamePlace && need.kind === 'token' && held.source === 'granted' && !held.isAccepted) {
    steps.begin('send the request with the new token')
    throw new LoginProblem(`the server rejects the token that ${place.issuer} just issued for it`)
  }
  let known: Promise<AuthorizationServer> | undefined
  const issuer = (): Promise<AuthorizationServer> => (known ??= issuerOf(setup, place, steps, flight.signal))
  const isRefreshable = !isSamePlace || held.isAccepted || held.source === 'stored'
  const refreshed =
    need.kind === 'token' && isRefreshable
      ? await rotate(setup, place, issuer, held?.tokens.accessToken, steps, flight)
      : await findStored(setup, renewal)
  if (refreshed !== undefined) return refreshed
  const purpose = `get a token (${setup.grant.name})`
  if (setup.storedOnly) {
    steps.begin(purpose)
    throw steps.forbidden(lackOf(need, setup.vault, await setup.vault.read(place.key)))
  }
  const metadata = await issuer()
  // Someone else may have logged in meanwhile.
  const stored = await findStored(setup, renewal)
  if (stored !== undefined) return stored
  steps.begin(purpose)
  const run = (): Promise<Held> => login(setup, { ...renewal, issuer: metadata })
  return setup.grant.isInteractive ? askPerson(setup, renewal, run) : askIssuer(setup, renewal, run)
}

/** Logs a service in, unless too many logins gave tokens. One that fails is the error of its request, and does not count. */
async function askIssuer(setup: Setup, { history }: PlacedRenewal, run: () => Promise<Held>): Promise<Held> {
  const takeBack = history.rate.begin(rateKeyOf(setup))
  try {
    return await run()
  } catch (thrown) {
    takeBack()
    throw thrown
  }
}

/** Lets a person log in, unless somebody else who shares the vault already does, or too many logins began. */
function askPerson(setup: Setup, renewal: PlacedRenewal, run: () => Promise<Held>): Promise<Held> {
  const { place, flight } = renewal
  const { signal } = flight
  signal.throwIfAborted()
  const find = (): Promise<Held | undefined> => findStored(setup, renewal)
  const pauseClocks = (): (() => void) => flight.pause()
  return inTurn({ vault: setup.vault, key: place.key, signal, find, pauseClocks }, async () => {
    const takeBack = loginRate.begin(rateKeyOf(setup))
    try {
      return await run()
    } catch (thrown) {
      if (thrown instanceof LoginRefused && !(thrown instanceof LoginDenied)) takeBack()
      throw thrown
    }
  })
}

/** Says why the stored credentials do not do. */
function lackOf(
  { kind, scopes: needed }: Need,
  { path = 'the vault' }: Vault,
  stored: StoredCredentials | undefined,
): Lack {
  if (kind === 'scopes') {
    const scopes = needed?.filter((scope) => stored?.tokens?.scopes?.includes(scope) !== true)
    const text = `the stored login lacks scopes${scopes === undefined ? '' : `: ${scopes.join(' ')}`}`
    return { reason: 'missing_scopes', text, ...(scopes && { scopes }) }
  }
  const nothing = `${path} has no credentials that work`
  if (stored?.lost !== undefined) return { reason: 'revoked', text: `${nothing}: ${clip(stored.lost, 200)}` }
  if (stored?.tokens === undefined) return { reason: 'no_login', text: `${nothing}: nobody has logged in` }
  return isExpired(stored.tokens)
    ? { reason: 'expired', text: `${nothing}: the login has expired` }
    : { reason: 'rejected', text: `${nothing}: the server rejects the token of the login` }
}

/** Credentials that the server may accept, if someone else stored them. */
async function findStored(setup: Setup, { need, held, place }: PlacedRenewal): Promise<Held | undefined> {
  const stored = await toHeld(setup, place, await setup.vault.read(place.key))
  if (stored === undefined || isExpired(stored.tokens)) return undefined
  if (stored.tokens.accessToken === held?.tokens.accessToken) return undefined
  if (need.kind === 'token') return stored
  const { scopes = [] } = stored.tokens
  return need.scopes?.every((scope) => scopes.includes(scope)) === true ? stored : undefined
}

/** Chooses the issuer. `left` are the places with other issuers, which the server no longer names. */
async function choosePlace(
  setup: Setup,
  found: FoundResource,
  steps: Steps,
): Promise<{ readonly place: Place; readonly left: readonly Place[] }> {
  const { server, owner, vault } = setup
  const keys = await vault.keys()
  const known = keys.map((key) => readPlace(key, owner, server)).filter((place) => place !== undefined)
  const issuer = chooseIssuer(setup, found, known)
  // An issuer that the program trusts may have other servers too, so each token names its server.
  const fallback = setup.issuer === undefined ? undefined : canonicalOf(server)
  const place = placeOf(owner, issuer, found.resource ?? fallback, server)
  // The server publishes another resource now.
  for (const one of known)
    if (one.issuer === issuer && one.key !== place.key) await vault.update(one.key, forget)
  const left = known.filter((one) => !found.issuers.includes(one.issuer) && one.issuer !== issuer)
  const [first] = left
  if (first === undefined) return { place, left }
  steps.note(`found that the server moved from ${first.issuer} to ${issuer}`)
  if (setup.grant.clientId !== undefined && setup.issuer === undefined) {
    const remedy = `if it has this client id too, name it with the option issuer: '${issuer}'`
    throw new LoginProblem(`the client id belongs to ${first.issuer} and is not sent to ${issuer}; ${remedy}`)
  }
  return { place, left }
}

async function forget(): Promise<undefined> {
  return undefined
}

async function withoutTokens(current: StoredCredentials | undefined): Promise<StoredCredentials | undefined> {
  return current?.registration && { registration: current.registration }
}

/** The issuer of the options, else one with which the client already has credentials, else the first. */
function chooseIssuer(setup: Setup, { issuers, resource }: FoundResource, known: readonly Place[]): string {
  if (setup.issuer !== undefined) {
    // A server without metadata names no issuer; the one of the options is then as good as its own.
    if (resource === undefined || issuers.includes(setup.issuer)) return setup.issuer
    throw new LoginProblem(
      `the server names ${issuers.join(', ')} as its issuer, but the option issuer allows only ${setup.issuer}`,
    )
  }
  const first = issuers.find((issuer) => known.some((place) => place.issuer === issuer)) ?? issuers[0]
  if (first === undefined) throw new LoginProblem('the metadata of the server names no issuer')
  return first
}

interface Login extends PlacedRenewal {
  readonly issuer: AuthorizationServer
}

async function login(setup: Setup, login: Login): Promise<Held> {
  const { need, held, place, found, issuer, steps, flight, history } = login
  const { grant, vault } = setup
  const stored = await vault.read(place.key)
  const scopes = chooseScopes({
    challenged: need.scopes,
    supported: found.scopes,
    requested: setup.scopes,
    granted: held?.place.key === place.key ? held.tokens.scopes : undefined,
    issuerScopes: listOf(issuer.scopes_supported),
    asksOffline: grant.refresh !== undefined,
  })
  const isBound = setup.dpop ?? (need.wantsDpop || found.needsDpop || stored?.tokens?.type === 'dpop')
  const algorithms = listOf(issuer.dpop_signing_alg_values_supported)
  const dpop = isBound ? await openDpop(stored?.dpopKey, algorithms, history.keys) : undefined
  const context: GrantContext = {
    ...setup,
    resource: place.resource,
    issuer,
    scopes,
    stepUp: stepUpOf(login),
    registration: stored?.registration,
    dpop: dpop?.handle,
    signal: flight.signal,
    pauseClocks: () => flight.pause(),
    step: steps.begin,
    keepRegistration: async (registration) => {
      // A refresh token belongs to the registration with which it was obtained.
      const keep = async (current: StoredCredentials | undefined): Promise<StoredCredentials | undefined> =>
        current?.tokens === undefined ? { ...current, registration } : current
      await vault.update(place.key, keep, flight.signal)
    },
  }
  const obtained = await obtain(setup, place, context)
  history.answered(scopes)
  const denied = deniedOf(setup, scopes, obtained.tokens, stored)
  const tokens = denied === undefined ? obtained.tokens : { ...obtained.tokens, denied }
  if (isUnbound(setup, tokens))
    throw new LoginProblem('the issuer does not bind tokens to keys (DPoP), which the option dpop asks for')
  const entry: StoredCredentials = {
    registration: obtained.registration ?? stored?.registration,
    tokens,
    ...(dpop !== undefined && { dpopKey: dpop.key }),
  }
  steps.begin(`keep the credentials in ${vault.name}`)
  await vault.update(place.key, async () => {
    // The user may have logged out while somebody else held the entry.
    flight.cancelled.throwIfAborted()
    return entry
  })
  return {
    place,
    tokens,
    dpop: tokens.type === 'dpop' ? dpop : undefined,
    source: 'granted',
    steps,
    refreshAt: refreshTime(tokens, 'granted'),
    isAccepted: false,
  }
}

/** Why a person who is logged in has to log in again; undefined if nobody is. */
function stepUpOf({ need, held, place }: Login): StepUp | undefined {
  if (need.kind !== 'scopes' || held?.place.key !== place.key) return undefined
  const scopes = (need.scopes ?? []).filter((scope) => held.tokens.scopes?.includes(scope) !== true)
  const wasRequested =
    scopes.length > 0 && scopes.every((scope) => held.tokens.denied?.includes(scope) === true)
  return { scopes, wasRequested }
}

/** The scopes that were asked for in vain, now or before, so that they are not asked for at each start. */
function deniedOf(
  setup: Setup,
  asked: readonly string[] | undefined,
  { scopes: granted }: StoredTokens,
  stored: StoredCredentials | undefined,
): readonly string[] | undefined {
  const all = [...(stored?.tokens?.denied ?? []), ...(setup.scopes ?? []), ...(asked ?? [])]
  const denied = [...new Set(all)].filter((scope) => granted?.includes(scope) === false)
  return denied.length === 0 ? undefined : denied.slice(-MAX_DENIED)
}

/** Runs the grant. A registration that the issuer has forgotten is removed, and the grant runs again without it. */
async function obtain(setup: Setup, { key }: Place, context: GrantContext): Promise<Obtained> {
  const { grant, vault } = setup
  context.signal.throwIfAborted()
  try {
    return await grant.obtain(context)
  } catch (thrown) {
    const { registration } = context
    const isUnknown = isUnknownClient(thrown)
    // Issuers show an error page for clients that they do not know, and never send the browser back.
    if (registration === undefined || !(isUnknown || thrown instanceof LoginTimeout)) throw thrown
    await vault.update(key, async (current) => {
      const isUsed = current?.registration?.clientId === registration.clientId
      if (!isUsed || (!isUnknown && current.tokens !== undefined)) return current
      // This login still runs.
      return current.pending && { pending: current.pending }
    })
    if (!isUnknown) throw thrown
    context.step('forget the registration, which the issuer does not know any more')
    return grant.obtain({ ...context, registration: undefined })
  }
}
