import { clip } from '../../base/clip.ts'
import { untrustedText } from '../../base/untrusted-text.ts'
import { McpError } from '../../errors/error.ts'
import { TooManyLogins } from './login-rate.ts'
import { PassingProblem } from './problem.ts'
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

/** Whether the same request may succeed later: an issuer or the server could not be reached or was too busy, or a service logged in too often. */
export function isPassing(thrown: unknown): boolean {
  if (thrown instanceof TooManyLogins) return thrown.isPassing
  if (!(thrown instanceof TokenError)) return thrown instanceof PassingProblem
  const { code = '', status, cause } = thrown
  if (status === undefined) return cause instanceof PassingProblem
  return PASSING.includes(code) || status >= 500 || status === 408 || status === 429
}

/** Whether an issuer did not decide about a request, so that what was sent may still be good. */
export function isUndecided(error: TokenError): boolean {
  return error.code === undefined || isPassing(error)
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
