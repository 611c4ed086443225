import { type Duration, toMs } from '../base/duration.ts'
import { DURATION, either, FLAG, listOf, object, required, type Kind, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Auth } from '../rpc/call.ts'
import type { AuthMethod } from '../transport/http/server/auth-method.ts'
import { bind, type BindingRules } from './binding.ts'
import { createProofs } from './dpop.ts'
import { ALGORITHMS } from './jwt.ts'
import { createNonces } from './nonces.ts'
import { COMMON_AUTH_OPTIONS, readResource, URL_TEXT, type CommonAuthOptions } from './options.ts'

/** The longest difference of clocks that can be allowed. */
const MAX_SKEW_MS = 300_000
/** The length of a secret that cannot be guessed. */
const MIN_SECRET = 32

/** Options of the methods that accept access tokens. */
export interface TokenOptions extends CommonAuthOptions {
  /**
   * The URL of the server as its clients use it, such as `https://mcp.example.com/mcp`. Tokens must be meant for it, and clients find
   * the metadata of the server with it (RFC 9728).
   */
  readonly resource: string
  /** The values that `aud` of tokens must contain one of, for issuers that do not name servers by URL. Default: `resource`. */
  readonly audience?: string | readonly string[] | undefined
  /** How much the clocks of the issuer and of clients may differ from this one, at most `'5m'`; a number is in milliseconds. Default: `'60s'`. */
  readonly clockSkew?: Duration | undefined
  /**
   * Tokens that are bound to a key of the client (DPoP, RFC 9449). Requests with such a token need a proof, which is accepted once
   * in each process. With `false`, such tokens are rejected. Default: `true`.
   */
  readonly dpop?: boolean | DpopOptions | undefined
}

/** Options for tokens that are bound to a key of the client. */
export interface DpopOptions {
  /** Whether tokens that are not bound to a key are rejected. Default: `false`. */
  readonly required?: boolean | undefined
  /** Whether proofs need a nonce that this server gave a short time ago. Default: `false`. */
  readonly nonces?: boolean | undefined
  /**
   * A secret of at least 32 characters that all instances of the server share, so that they accept each other's nonces.
   * Default: a random one.
   */
  readonly secret?: string | undefined
}

/** A text that is not empty, as one from a forgotten variable would be. */
export const NAME: Kind<string> = {
  must: 'a text that is not empty',
  is: (value) => typeof value === 'string' && value !== '',
}

export const AUDIENCE: Kind<string | readonly string[]> = either(NAME, someOf(NAME))

/** A list with at least one element of a kind. */
/* @__NO_SIDE_EFFECTS__ */
export function someOf<Value>(kind: Kind<Value>): Kind<readonly Value[]> {
  const list = listOf(kind)
  return {
    ...list,
    must: `${list.must}, and at least one`,
    is: (value) => list.is(value) && (value as []).length > 0,
  }
}

/** A small number was meant in seconds. */
const SKEW: Kind<Duration> = {
  ...DURATION,
  is: (value) => DURATION.is(value) && !isFewMs(value),
  write: (_, value) => (isFewMs(value) ? `${value} is in milliseconds; write '${value}s'` : undefined),
}

function isFewMs(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < 1000
}

export const TOKEN_OPTIONS: KindsOf<TokenOptions> = {
  ...COMMON_AUTH_OPTIONS,
  resource: required(
    URL_TEXT,
    'resource is missing; write the URL that clients use, such as https://mcp.example.com/mcp',
  ),
  audience: AUDIENCE,
  clockSkew: SKEW,
  dpop: either(FLAG, object<DpopOptions>()),
}

const DPOP_OPTIONS: KindsOf<DpopOptions> = {
  required: FLAG,
  nonces: FLAG,
  secret: {
    must: `a text of at least ${MIN_SECRET} characters`,
    is: (value) => typeof value === 'string' && value.length >= MIN_SECRET,
  },
}

/** What the methods that accept tokens have in common. */
export interface TokenSettings {
  readonly audience: readonly string[]
  readonly skewMs: number
  readonly bind: (claims: JsonObject, auth: Auth) => ReturnType<typeof bind>
  readonly parts: Pick<AuthMethod, 'resource' | 'scopes' | 'includes' | 'metadata' | 'nonce'>
  /** The same for another URL of the server, for which tokens may be meant too, unless the option `audience` lists what they may name. */
  readonly at: (url: string) => TokenSettings
}

/** Reads options that were checked by their kinds. */
export function readTokenOptions(where: string, options: TokenOptions): TokenSettings {
  const { scopes = [], includes = {}, metadata } = options
  const resource = readResource(where, options.resource)
  const skewMs = toMs(options.clockSkew ?? '60s', `${where} clockSkew`)
  if (skewMs > MAX_SKEW_MS)
    throw badOption(where, `clockSkew must be at most '5m'; correct the clocks instead`)
  const { rules, nonces } = readDpop(where, options.dpop ?? true, skewMs)
  const settings: TokenSettings = {
    audience: toList(options.audience ?? resource),
    skewMs,
    bind: (claims, auth) => bind(claims, auth, rules),
    parts: {
      resource,
      scopes,
      includes,
      metadata: { ...(rules.proofs === undefined ? {} : advertise(rules.required)), ...metadata },
      ...(nonces === undefined ? {} : { nonce: () => nonces.current() }),
    },
    at: (url) => ({
      ...settings,
      audience: options.audience === undefined ? [resource, url] : settings.audience,
      parts: { ...settings.parts, resource: url },
    }),
  }
  return settings
}

/** A value or a list of values as a list. */
export function toList<Value>(value: Value | readonly Value[]): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : [value as Value]
}

function readDpop(
  where: string,
  dpop: boolean | DpopOptions,
  skewMs: number,
): { readonly rules: BindingRules; readonly nonces: ReturnType<typeof createNonces> | undefined } {
  if (dpop === false) return { rules: { proofs: undefined, required: false }, nonces: undefined }
  const options = dpop === true ? {} : dpop
  checkOptions<DpopOptions>(`${where} dpop`, options, DPOP_OPTIONS)
  if (options.secret !== undefined && options.nonces !== true)
    throw badOption(`${where} dpop`, 'secret signs nonces, so it needs nonces: true; write both, or neither')
  const nonces = options.nonces === true ? createNonces(options.secret) : undefined
  return { rules: { proofs: createProofs({ skewMs, nonces }), required: options.required === true }, nonces }
}

/** The members of the metadata that tell clients about DPoP. */
function advertise(isRequired: boolean): JsonObject {
  return {
    dpop_signing_alg_values_supported: ALGORITHMS,
    ...(isRequired ? { dpop_bound_access_tokens_required: true } : {}),
  }
}
