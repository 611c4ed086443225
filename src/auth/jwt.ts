import { base64url, decodeJwt, errors, jwtVerify } from 'jose'
import type { Rejected, Verdict } from '../transport/http/server/auth-method.ts'
import { NOT_A_TIME, readClaims, reject, type ClaimRules } from './claims.ts'
import { isIdToken } from './id-token.ts'
import { IssuerError } from './issuer-fetch.ts'
import { wrongIssuer } from './mismatch.ts'
import { NewKeyError, type KeyName, type Keys } from './keys.ts'
import { readHeader } from './token-header.ts'

/** The algorithms with a public key. With any other, everyone who can verify tokens could also create them. */
export const ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const

/** An algorithm with a public key. */
export type Algorithm = (typeof ALGORITHMS)[number]

/** The types of access tokens; most issuers have no type of their own for them. Other tokens of an issuer have another type. */
const TYPES: ReadonlySet<unknown> = new Set(['at+jwt', 'application/at+jwt', 'jwt', undefined])
const STRICT_TYPES: ReadonlySet<unknown> = new Set(['at+jwt', 'application/at+jwt'])

const NOT_AN_ACCESS_TOKEN = reject('invalid', 'it is not an access token')

/** The longest token that is verified. */
const MAX_LENGTH = 32_768

/** How the tokens of one issuer are verified. */
export interface JwtRules extends ClaimRules {
  readonly keys: Keys
  readonly algorithms: readonly Algorithm[]
  /** Whether the header must say that it is an access token. */
  readonly strictType: boolean
}

/** Verifies a JSON Web Token by the rules of the issuer that it names; undefined if it is not from any of them. */
export async function verifyJwt(
  token: string,
  rulesOf: (issuer: string) => JwtRules | undefined,
): Promise<Verdict | undefined> {
  if (token.length > MAX_LENGTH) return undefined
  const named = decode(token)
  const rules = named && rulesOf(named.issuer)
  if (named === undefined || rules === undefined) return undefined
  const { name, type } = named
  const { algorithms, keys, strictType } = rules
  // The header decides nothing: not the algorithm, nor where keys are. `jku`, `x5u`, `jwk` and `x5c` are never read.
  if (!algorithms.includes(name.alg as Algorithm)) return reject('invalid', 'its algorithm is not accepted')
  if (!(strictType ? STRICT_TYPES : TYPES).has(type)) return NOT_AN_ACCESS_TOKEN
  try {
    const key = await keys.find(name)
    const { payload } = await jwtVerify(token, key, {
      algorithms: [...algorithms],
      clockTolerance: rules.skewMs / 1000,
      requiredClaims: ['exp'],
    })
    if (!isSpeltOnce(token)) return reject('invalid', 'its signature is wrong')
    return !STRICT_TYPES.has(type) && isIdToken(payload) ? NOT_AN_ACCESS_TOKEN : readClaims(payload, rules)
  } catch (thrown) {
    return explain(thrown)
  }
}

/** Whether the signature, which does not protect its own spelling, is the only text for its bytes. */
function isSpeltOnce(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return base64url.encode(base64url.decode(signature)) === signature
}

/** Why a token is not from any of these issuers, as far as it says so itself. */
export function explainForeign(
  token: string,
  issuers: readonly string[],
  isOnly: boolean,
): Rejected | undefined {
  const named = token.length > MAX_LENGTH ? undefined : decode(token)
  if (named !== undefined) {
    const why = 'it is from an issuer that this server does not accept'
    return { ...reject('invalid', why), ...wrongIssuer(named.issuer, issuers) }
  }
  // Other methods accept other tokens.
  if (!isOnly || token.length > MAX_LENGTH) return undefined
  const isJwt = token.split('.').length === 3
  return isJwt
    ? reject('invalid', 'it names no issuer, or is malformed')
    : { ...reject('invalid', 'it is not a JSON Web Token'), advice: OPAQUE }
}

const OPAQUE =
  'if the issuer creates other tokens, add introspection({ … }) to auth, or have it create JSON Web Tokens for this server (often by its audience or resource)'

/** What a token claims. Nothing has verified it yet. */
interface Named {
  readonly name: KeyName
  /** Its type in lower case; undefined if it has none. */
  readonly type: string | undefined
  readonly issuer: string
}

/** Reads what a token says about itself. The rest is not kept while the token waits for the keys of its issuer. */
function decode(token: string): Named | undefined {
  try {
    const header = readHeader(token)
    const { iss } = decodeJwt(token)
    if (header === undefined || typeof iss !== 'string') return undefined
    const [alg = '', kid, type] = [header.alg, header.kid, header.typ].map(textOf)
    return { name: { alg, ...(kid !== undefined && { kid }) }, type: type?.toLowerCase(), issuer: iss }
  } catch {
    return undefined
  }
}

/** A member of a header that must be text. Anything else becomes empty text, which no algorithm, type or key has as its name. */
function textOf(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : ''
}

/** Why a token was rejected, by the errors of jose. Their own texts are not used, because they may contain parts of tokens. */
const REASONS: readonly (readonly [new (...parts: never[]) => Error, string])[] = [
  [errors.JWKSNoMatchingKey, 'its issuer has no such key'],
  [errors.JWKSMultipleMatchingKeys, 'it does not say which key of the issuer signed it'],
  [errors.JWSSignatureVerificationFailed, 'its signature is wrong'],
]

const CLAIM_REASONS: Readonly<Record<string, string>> = {
  nbf: 'it is not valid yet',
  exp: 'it does not say when it expires',
}

function explain(thrown: unknown): Rejected {
  if (thrown instanceof NewKeyError) return reject('unavailable', 'its key is not known yet', thrown)
  if (thrown instanceof IssuerError) return reject('unavailable', 'its issuer cannot be reached now', thrown)
  if (thrown instanceof errors.JWTExpired) return reject('expired', 'it expired')
  if (thrown instanceof errors.JWTClaimValidationFailed && thrown.reason === 'invalid')
    return reject('invalid', NOT_A_TIME)
  if (thrown instanceof errors.JWTClaimValidationFailed)
    return reject('invalid', CLAIM_REASONS[thrown.claim] ?? 'its claims are not valid')
  const reason = REASONS.find(([type]) => thrown instanceof type)?.[1]
  if (reason !== undefined || thrown instanceof errors.JOSEError)
    return reject('invalid', reason ?? 'it is malformed')
  // The other errors are not about the token, but for example about a key of the issuer that is too short.
  return reject('unavailable', 'it cannot be verified', thrown)
}
