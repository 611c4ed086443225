import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The claims that tie an ID token to a login (OpenID Connect Core). Access tokens have none of them. */
const LOGIN_CLAIMS = ['nonce', 'at_hash', 'c_hash']
/** Keycloak names the kind of a token in the claim `typ`, and before version 25 copies `nonce` to access tokens. */
const ACCESS_KINDS: ReadonlySet<unknown> = new Set(['Bearer', 'DPoP'])
const OTHER_KINDS: ReadonlySet<unknown> = new Set(['ID', 'Refresh', 'Offline', 'Logout'])

/**
 * Whether a token without a type of its own is recognisable as an ID token (RFC 8725, section 3.12), which is meant for the client
 * that logged a user in. One without any of these signs can only be told by its audience and its lack of scopes.
 */
export function isIdToken(claims: JsonObject): boolean {
  const { typ, aud, azp } = claims
  if (ACCESS_KINDS.has(typ)) return false
  if (OTHER_KINDS.has(typ) || LOGIN_CLAIMS.some((name) => claims[name] !== undefined)) return true
  const audience: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud
  const hasScopes = (claims['scope'] ?? claims['scp']) !== undefined
  return azp !== undefined && azp === audience && !hasScopes
}
