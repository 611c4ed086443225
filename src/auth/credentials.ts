import type { HttpHead } from '../transport/http/server/parts.ts'

/** The credentials of a request. */
export interface Credentials {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
  /** The address of the client, if known. */
  readonly ip?: string | undefined
}

/** Why the credentials of a request cannot be read. */
export interface Malformed {
  readonly malformed: string
}

/** The common header, so that most requests need one comparison. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/
const CREDENTIALS = /^(bearer|dpop) +([A-Za-z0-9._~+/-]+=*)$/i
const SCHEME = /^(?:bearer|dpop)(?:[\s,]|$)/i
const QUERY = /[?&]access_token=/i

/** Reads the credentials of a request; undefined if it has none that could be a token (RFC 6750, section 2.1; RFC 9449, section 7.1). */
export function readCredentials(head: HttpHead): Credentials | Malformed | undefined {
  const { target } = head
  // A query gets into logs and histories, so a token in it is rejected even if the header has one too.
  if (target !== undefined && QUERY.test(target))
    return { malformed: 'the URL contains a token; send it in the Authorization header' }
  const header = head.header('authorization')
  if (header === undefined) return undefined
  const usual = BEARER.exec(header)
  if (usual !== null) return { scheme: 'bearer', token: usual[1] as string, ip: head.ip }
  const found = CREDENTIALS.exec(header)
  if (found !== null) {
    const scheme = (found[1] as string).toLowerCase() as Credentials['scheme']
    return { scheme, token: found[2] as string, ip: head.ip }
  }
  // Several headers are joined with commas, which no other scheme has before its parameters.
  if (SCHEME.test(header) || /,\s*(?:bearer|dpop)\s/i.test(header))
    return { malformed: 'the Authorization header must have one scheme and one token' }
  return undefined
}

/** Other schemes that clients use. Anything else in the header may be a secret, which is not repeated. */
const OTHER = /^(basic|digest|token|apikey|api-key|key|jwt|oauth|negotiate|ntlm)\s/i

/** Says why a request has no credentials that could be a token. */
export function explainMissing(head: HttpHead): string {
  const header = head.header('authorization')
  if (header === undefined) return 'the request has no credentials'
  const scheme = OTHER.exec(header)?.[1]
  if (scheme !== undefined) return `the scheme ${scheme} is not accepted`
  return /\s/.test(header)
    ? 'the scheme of the Authorization header is not accepted'
    : 'the Authorization header has no scheme'
}
