import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Auth } from '../rpc/call.ts'
import type { Accepted, Rejected, Rejection } from '../transport/http/server/auth-method.ts'
import type { Confirm } from './binding.ts'
import { wrongAudience, wrongIssuer } from './mismatch.ts'

/** Later times are not in seconds but in milliseconds, and would be thousands of years away. */
export const LATEST_SECONDS = 100_000_000_000

export const NOT_A_TIME = 'its exp, nbf or iat is not a time in seconds'

/** What the claims of a token must be. */
export interface ClaimRules {
  /** The issuer that they must be from. */
  readonly issuer: string
  /** The audiences of which they must name one. */
  readonly audience: readonly string[]
  /** How much the clocks of this server and the issuer may differ. */
  readonly skewMs: number
  /** Creates the check for requests with the token, if it needs one; a rejection if the token cannot be used here. */
  bind(claims: JsonObject, auth: Auth): Confirm | Rejected | undefined
}

/** Checks the claims of a token whose origin is known, and describes the caller. */
export function readClaims(claims: JsonObject, rules: ClaimRules): Accepted | Rejected {
  const { issuer, audience, skewMs } = rules
  if (claims['iss'] !== undefined && claims['iss'] !== issuer)
    return { ...reject('invalid', 'it is from another issuer'), ...wrongIssuer(claims['iss'], [issuer]) }
  if (!namesOne(claims['aud'], audience))
    return {
      ...reject('invalid', 'it is meant for another server'),
      ...wrongAudience(claims['aud'], audience),
    }
  const now = Date.now()
  const [exp, nbf, iat] = ['exp', 'nbf', 'iat'].map((name) => claims[name])
  if (![exp, nbf, iat].every(isTime)) return reject('invalid', NOT_A_TIME)
  if (exp !== undefined && toMs(exp) + skewMs <= now) return reject('expired', 'it expired')
  if ([nbf, iat].some((time) => time !== undefined && toMs(time) - skewMs > now))
    return reject('invalid', 'it is not valid yet')
  const clientId = claims['client_id'] ?? claims['azp']
  // Without a user, the client acts on its own behalf. Some clients choose their id, so it must not be that of a user (RFC 9700, 4.15).
  const sub = claims['sub'] ?? (isName(clientId) ? `client:${clientId}` : undefined)
  const scopes = scopesOf(claims['scope'] ?? claims['scp'])
  if (!isName(sub) || (clientId !== undefined && !isName(clientId)))
    return reject('invalid', 'it has no subject')
  if (scopes === undefined) return reject('invalid', 'its scopes are not text')
  // All requests with the token share it.
  const auth = freeze({ sub, scopes, clientId, issuer, expiresAt: exp, claims })
  const confirm = rules.bind(claims, auth)
  if (typeof confirm === 'object') return confirm
  return {
    auth,
    expiresAt: exp === undefined ? undefined : toMs(exp) + skewMs,
    // The earliest time that is possible, so that a revocation also rejects tokens of an issuer whose clock is ahead.
    issuedAt: iat === undefined ? undefined : toMs(iat) - skewMs,
    ...(confirm && { confirm }),
  }
}

/** The rejection of a token. */
export function reject(rejected: Rejection, why: string, cause?: unknown): Rejected {
  return cause === undefined ? { rejected, why } : { rejected, why, cause }
}

function namesOne(aud: unknown, audience: readonly string[]): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return named.some((one) => audience.includes(one as string))
}

function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value > 0 && value < LATEST_SECONDS)
}

function toMs(seconds: unknown): number {
  return (seconds as number) * 1000
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Scopes as RFC 9068 and RFC 7662 write them, or as a list. */
function scopesOf(value: unknown): readonly string[] | undefined {
  if (value === undefined) return []
  if (typeof value === 'string') return value.split(' ').filter((scope) => scope !== '')
  return Array.isArray(value) && value.every((scope) => typeof scope === 'string') ? value : undefined
}

/** Makes a value unchangeable, with everything in it. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}
