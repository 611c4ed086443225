import { toMs, type Duration } from '../base/duration.ts'
import { DURATION, listOf, TEXT, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import type { Auth } from '../rpc/call.ts'
import type { Accepted, AuthMethod, Verdict } from '../transport/http/server/auth-method.ts'
import { LATEST_SECONDS } from './claims.ts'
import { createMethod } from './method.ts'
import { COMMON_AUTH_OPTIONS, readResource, type CommonAuthOptions } from './options.ts'

/** Verifies a token: returns the caller, or undefined if the token is not valid. */
export type VerifyToken = (
  token: string,
) => Auth | undefined | null | false | Promise<Auth | undefined | null | false>

/** The options of `bearer`. */
export interface BearerOptions extends CommonAuthOptions {
  /** How long a result is kept before `verify` is asked again about the same token. Default: `'60s'`. */
  readonly recheck?: Duration | undefined
  /** The URLs of the authorization servers where clients get their tokens. Default: none. */
  readonly issuers?: readonly string[] | undefined
}

const BEARER_OPTIONS: KindsOf<BearerOptions> = {
  ...COMMON_AUTH_OPTIONS,
  recheck: DURATION,
  issuers: listOf(TEXT),
}

const WHERE = 'bearer'

/**
 * Authenticates callers by bearer tokens that a function of yours verifies. What it returns becomes `ctx.auth`: `sub` identifies the
 * caller, `scopes` are its scopes, and `expiresAt`, in seconds since 1970, is when the token expires. If it throws, the request
 * gets 503 and the log has the error.
 *
 * @example
 * const auth = bearer(async (token) => {
 *   const user = await users.findByToken(token)
 *   return user && { sub: user.id, scopes: user.scopes }
 * })
 * createServer({ name: 'orders', version: '1.0.0', auth })
 */
export function bearer(verify: VerifyToken, options: BearerOptions = {}): AuthMethod {
  if (typeof verify !== 'function')
    throw badOption(WHERE, 'pass a function that verifies a token: bearer((token) => users.find(token))')
  checkOptions(WHERE, options, BEARER_OPTIONS)
  const { resource, scopes = [], includes = {}, metadata = {}, issuers = [], recheck = '60s' } = options
  const recheckMs = toMs(recheck, `${WHERE} recheck`)
  return createMethod({
    name: WHERE,
    resource: resource && readResource(WHERE, resource),
    issuers,
    scopes,
    includes,
    metadata,
    verify: async (token) => toVerdict(await verify(token), recheckMs),
  })
}

function toVerdict(auth: unknown, recheckMs: number): Verdict | undefined {
  if (auth === undefined || auth === null || auth === false) return undefined
  checkAuth(auth)
  const seconds: unknown = auth['expiresAt']
  const accepted: Accepted = { auth, issuedAt: Number.POSITIVE_INFINITY, recheckAt: Date.now() + recheckMs }
  return typeof seconds === 'number' ? { ...accepted, expiresAt: seconds * 1000 } : accepted
}

/** Throws for a result that is not a caller, which would otherwise be one without a name or without its scopes. */
function checkAuth(auth: unknown): asserts auth is Auth {
  const { sub, scopes, expiresAt } = (isObject(auth) ? auth : {}) as Readonly<Record<string, unknown>>
  const isFit =
    isObject(auth) &&
    !Array.isArray(auth) &&
    typeof sub === 'string' &&
    sub !== '' &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every((one) => typeof one === 'string'))) &&
    (expiresAt === undefined || Number.isFinite(expiresAt))
  if (!isFit) {
    const shape = '{ sub, scopes, expiresAt }, with a subject, a list of strings and a number of seconds'
    throw new TypeError(
      `the function passed to bearer() must return ${shape}, or undefined for an invalid token`,
    )
  }
  if (Number(expiresAt) >= LATEST_SECONDS)
    throw new TypeError(
      'the function passed to bearer() returned expiresAt in milliseconds; return seconds: Math.floor(ms / 1000)',
    )
}
