import { clip } from '../base/clip.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import type { Rejected } from '../transport/http/server/auth-method.ts'

/** How much of a claim the log repeats. */
const MAX_LENGTH = 200
const METADATA = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?:\/|$)/

type Mismatch = Required<Pick<Rejected, 'detail' | 'advice' | 'facts'>>

/** Tells the operator about a token of another issuer. */
export function wrongIssuer(found: unknown, issuers: readonly string[]): Mismatch {
  const [shown, expected] = [quote(found), issuers.map(quote).join(', ')]
  return {
    detail: `its issuer (iss) is ${shown}, and only ${expected} is accepted`,
    advice: adviceOn(found, issuers),
    facts: { expected: [...issuers], found: shown },
  }
}

/** Tells the operator about a token for another audience. */
export function wrongAudience(found: unknown, audience: readonly string[]): Mismatch {
  const expected = audience.map(quote).join(' or ')
  return {
    detail:
      found === undefined
        ? `it has no audience (aud), and must be for ${expected}`
        : `it is for ${quote(found)} (aud), not for ${expected}`,
    advice: 'correct resource or audience, or the settings of the issuer',
    facts: { expected: [...audience], found: found === undefined ? null : quote(found) },
  }
}

/** Recognizes issuers that are written in another way than their tokens have it. Anyone may send a token that names any issuer. */
function adviceOn(found: unknown, issuers: readonly string[]): string {
  const write = `only if this is your issuer, write issuer: ${quote(found)}`
  const isLike = (change: (issuer: string) => string): boolean =>
    typeof found === 'string' && issuers.some((one) => change(one) === change(found))
  if (isLike((one) => one.replace(/\/$/, ''))) return `a final slash counts; ${write}`
  if (issuers.some((one) => METADATA.test(one)) && isLike(withoutMetadata))
    return `the configured issuer is the URL of its metadata; ${write}`
  if (isLike(withoutLoopbackName)) return `localhost and 127.0.0.1 are different names; ${write}`
  if (isLike((one) => one.replace(/^http:/, 'https:').toLowerCase()))
    return `http and https, and capital letters, are different; ${write}`
  return `${write}; otherwise ignore it, since anyone may send such a token`
}

function withoutMetadata(issuer: string): string {
  return issuer.replace(METADATA, '/').replace(/\/$/, '')
}

function withoutLoopbackName(issuer: string): string {
  return issuer.replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/]|$)/, '$1127.0.0.1')
}

/** A value from a token, as one short line. */
function quote(value: unknown): string {
  return JSON.stringify(clip(untrustedText(value), MAX_LENGTH)).replace(/[^\x20-\x7e]/g, '?')
}
