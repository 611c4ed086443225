import { throttle } from '../base/throttle.ts'
import type { AuthHost, AuthMethod, Rejected } from '../transport/http/server/auth-method.ts'

/** The log repeats a reason at most this often, because clients try again and again. */
const PAUSE_MS = 60_000
/** A failure concerns all callers, so it is repeated sooner. */
const FAILURE_PAUSE_MS = 1000
/** How many reasons are told apart. All others share a place: whoever sends tokens must not be able to make room for more reports. */
const MAX_REASONS = 100

const UNKNOWN: Rejected = { rejected: 'invalid', why: 'it is unknown, or meant for another server' }

/** Tells the operator about a token that was rejected. */
export type RejectionLog = (rejected: Rejected, ip: string | undefined) => void

type Report = (fact: { readonly rejected: Rejected; readonly ip: string | undefined }) => void

/** Creates the log of one listener or mount. Each reason is throttled on its own, so that none hides another. */
export function createRejectionLog({ report }: Pick<AuthHost, 'report'>): RejectionLog {
  const reports = new Map<string, Report>()
  const reportFailure: () => Report = () =>
    throttle(({ rejected: { why, cause }, ip }, skipped) => {
      report('error', `a token could not be verified: ${why}`, { error: cause, ...origin(ip, skipped) })
    }, FAILURE_PAUSE_MS)
  const reportRejection: () => Report = () =>
    throttle(({ rejected: { why, detail = why, advice, facts }, ip }, skipped) => {
      const text = advice === undefined ? detail : `${detail}; ${advice}`
      report('warning', `a token was rejected: ${text}`, { reason: why, ...facts, ...origin(ip, skipped) })
    }, PAUSE_MS)

  return (rejected, ip) => {
    // Clients get their first nonce in this way.
    if (rejected.rejected === 'nonce') return
    const isFailure = rejected.rejected === 'unavailable'
    const own = reasonOf(rejected)
    const isToldApart = reports.has(own) || reports.size < MAX_REASONS
    const reason = isToldApart ? own : `other ${isFailure ? 'failures' : 'rejections'}`
    let known = reports.get(reason)
    if (known === undefined) {
      known = isFailure ? reportFailure() : reportRejection()
      reports.set(reason, known)
    }
    known({ rejected, ip })
  }
}

/** Why no method accepts a token, as far as one of them can tell. */
export function explainUnknown(methods: readonly AuthMethod[], token: string): Rejected {
  for (const method of methods) {
    const found = method.explain?.(token, methods.length === 1)
    if (found !== undefined) return found
  }
  return UNKNOWN
}

/** What tells reasons apart. The message of an error does not count: it may contain parts of the token, which the sender chooses. */
function reasonOf({ why, cause }: Rejected): string {
  return cause instanceof Error ? `${why}: ${cause.name}` : why
}

function origin(ip: string | undefined, skipped: number): object {
  return { ...(ip !== undefined && { ip }), ...(skipped > 0 && { suppressed: skipped }) }
}
