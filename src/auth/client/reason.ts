import { clip } from '../../base/clip.ts'
import { untrustedText } from '../../base/untrusted-text.ts'
import { McpError } from '../../errors/error.ts'
import { TokenError } from './token-error.ts'

const LONGEST = 600

/** Says what went wrong, for people. The cause of an error is left out, since it may hold secrets. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof McpError) return `${thrown.message}. ${thrown.hint}`
  return clip(thrown instanceof Error ? thrown.message : untrustedText(thrown), LONGEST)
}

/** The errors that may be over soon, with whatever status an issuer sends them. */
const PASSING: readonly string[] = [
  'temporarily_unavailable',
  'server_error',
  'slow_down',
  'too_many_requests',
]

/** Whether the same request may succeed later, because the issuer did not decide about it. */
export function isPassing({ code, status = 0 }: TokenError): boolean {
  if (code === undefined || PASSING.includes(code)) return true
  return status < 400 || status >= 500 || status === 408 || status === 429
}

/** Whether a refresh token is invalid, expired or revoked. */
export function isRejectedGrant({ code }: TokenError): boolean {
  return code === 'invalid_grant'
}

/** Whether an issuer does not know the client, so that its registration is useless. */
export function isUnknownClient(thrown: unknown): boolean {
  return (
    thrown instanceof TokenError &&
    (thrown.code === 'invalid_client' || thrown.code === 'unauthorized_client')
  )
}
