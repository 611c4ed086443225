import type { AuthorizationServer } from 'oauth4webapi'
import { McpError, mcpError } from '../../errors/error.ts'
import { VAULT_FAILED } from '../../errors/vault.ts'
import { openDpop, type Dpop } from './dpop.ts'
import type { Grant, GrantContext } from './grant.ts'
import { findIssuer } from './issuer.ts'
import type { Place } from './place.ts'
import { reasonOf } from './reason.ts'
import type { Steps } from './steps.ts'
import type { StoredCredentials, StoredTokens, Vault } from './vault.ts'

/** The settings of a method for one server, which stay the same while a client uses it. A grant gets the parts that it needs. */
export interface Setup extends Pick<GrantContext, 'server' | 'fetch' | 'fetchFor' | 'allowsHttp'> {
  /** The method and its client id, which keep its credentials apart from others in the vault. */
  readonly owner: string
  readonly grant: Grant
  readonly vault: Vault
  readonly scopes: readonly string[] | undefined
  readonly issuer: string | undefined
  readonly dpop: boolean | undefined
  readonly allowOrigins: readonly string[]
  readonly storedOnly: boolean
}

/** Credentials that a client uses. */
export interface Held {
  readonly place: Place
  readonly tokens: StoredTokens
  /** Signs the proofs; undefined for bearer tokens. */
  readonly dpop: Dpop | undefined
  /** How the client got them. */
  readonly source: 'stored' | 'refreshed' | 'granted'
  /** The steps to them, for the error if the server does not take them. */
  readonly steps?: Steps | undefined
  /** When to get others, in milliseconds since 1970: a little before they expire. */
  readonly refreshAt: number
  /** The login that they come from, once the client uses them. */
  login?: string
  /** Whether the server accepted them at least once. */
  isAccepted: boolean
}

/** The error to throw for what a vault threw, which may be one of the program. */
export function vaultFailure({ name }: Vault, thrown: unknown): McpError {
  if (thrown instanceof McpError) return thrown
  return mcpError(VAULT_FAILED, { path: name, reason: reasonOf(thrown) }, { cause: thrown })
}

/** The server and the user, for whom logins are counted. */
export function rateKeyOf({ owner, server }: Setup): string {
  return `${owner} ${server.href}`
}

/** Clocks differ, and a request takes a moment to arrive. */
const EARLY_MS = 5_000

/** Whether an access token is known to expire before a request with it arrives. */
export function isExpired({ expiresAt }: StoredTokens): boolean {
  return expiresAt !== undefined && expiresAt - EARLY_MS <= Date.now()
}

/** Whether the options allow no token of this type, because everyone who has it could use it. */
export function isUnbound({ dpop }: Setup, { type }: StoredTokens): boolean {
  return dpop === true && type !== 'dpop'
}

/** The credentials of an entry of the vault; undefined if it has no tokens that the options allow. */
export async function toHeld(
  setup: Setup,
  place: Place,
  stored: StoredCredentials | undefined,
  source: Held['source'] = 'stored',
  steps?: Steps,
): Promise<Held | undefined> {
  const tokens = stored?.tokens
  if (tokens === undefined || isUnbound(setup, tokens)) return undefined
  const dpop = tokens.type === 'dpop' ? await openDpop(stored?.dpopKey) : undefined
  return { place, tokens, dpop, source, steps, refreshAt: refreshTime(tokens, source), isAccepted: false }
}

/** New tokens that live only seconds are used for half of their life, so that not every request refreshes them. */
export function refreshTime({ expiresAt = Infinity }: StoredTokens, source: Held['source']): number {
  const early = source === 'stored' ? EARLY_MS : Math.min(EARLY_MS, (expiresAt - Date.now()) / 2)
  return expiresAt - early
}

/** Sends requests until a signal aborts. */
export function abortable(fetch: typeof globalThis.fetch, signal: AbortSignal): typeof globalThis.fetch {
  return (input, init) => fetch(input, { ...init, signal })
}

/** Reads the metadata of the issuer of a place, until the signal aborts. */
export function issuerOf(
  setup: Setup,
  { issuer, resource }: Place,
  steps: Steps,
  signal: AbortSignal,
): Promise<AuthorizationServer> {
  const { allowOrigins, allowsHttp } = setup
  // An issuer that the options name is not a guess, whatever the server publishes.
  const isLegacy = resource === undefined && setup.issuer === undefined
  steps.begin(`find the metadata of the issuer ${issuer}`)
  return findIssuer({
    issuer,
    isLegacy,
    fetch: abortable(setup.fetch, signal),
    step: steps.note,
    allowOrigins,
    allowsHttp,
    needsPkce: setup.grant.isInteractive,
  })
}
