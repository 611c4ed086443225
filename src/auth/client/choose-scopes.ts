import { isScope } from '../../rpc/scopes.ts'

const OFFLINE = 'offline_access'
const MAX_SCOPES = 200

/** Scopes from all sides; undefined or empty where a side says nothing. */
export interface ScopeChoice {
  /** Those that the challenge names, which the request needs. */
  readonly challenged: readonly string[] | undefined
  /** Those in the metadata of the server. */
  readonly supported: readonly string[] | undefined
  /** Those of the option `scopes`. */
  readonly requested: readonly string[] | undefined
  /** Those that the client was granted before. */
  readonly granted: readonly string[] | undefined
  /** Those in the metadata of the issuer. */
  readonly issuerScopes: readonly string[] | undefined
  /** Whether the grant can use refresh tokens. */
  readonly asksOffline: boolean
}

/**
 * The scopes to ask for; undefined leaves the choice to the issuer. The challenge and the option determine them, or else the metadata of the server. Scopes that were
 * granted before are asked for again, so that a step up loses none. `offline_access` is asked for only if the option or the issuer names it.
 */
export function chooseScopes(choice: ScopeChoice): readonly string[] | undefined {
  const { challenged = [], supported = [], requested = [], granted = [], issuerScopes = [] } = choice
  const needed = [...requested, ...challenged]
  const wanted = [...granted, ...(needed.length > 0 ? needed : supported)]
  const scopes = [...new Set(wanted)]
    .filter((scope) => isScope(scope) && scope !== OFFLINE)
    .slice(0, MAX_SCOPES)
  // Alone it would replace the scopes that the issuer grants by itself, unless somebody named it.
  const isOffered = choice.asksOffline && issuerScopes.includes(OFFLINE) && wanted.length > 0
  if (isOffered || requested.includes(OFFLINE)) scopes.push(OFFLINE)
  return scopes.length === 0 ? undefined : scopes
}
