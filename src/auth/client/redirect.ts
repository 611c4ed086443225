import { orAborted } from '../../base/backoff.ts'
import { LoginProblem, quoted } from './problem.ts'
import type { StoredRegistration } from './vault.ts'

/** The page of the issuer, with the parameters that the issuer may not accept. */
export interface LoginRequest {
  readonly url: URL
  readonly state: string
  readonly redirectUri: string
  readonly registration: StoredRegistration
}

/** Where the issuer sends the browser with its answer. */
export interface Redirect {
  readonly uri: string
  /** Shows a person the page of the issuer, and resolves with the URL to which the browser was sent afterwards. */
  receive(request: LoginRequest): Promise<URL>
  close(): void
}

/** Nobody logged in for a long time. */
export class LoginTimeout extends LoginProblem {}

/** Explains error pages, from which issuers never send the browser back. */
export function adviceFor({ registration, redirectUri }: LoginRequest): string {
  const names = `the client id ${quoted(registration.clientId)} or the redirect URI ${redirectUri}`
  return `If the page shows an error, ${names} is probably not registered there.`
}

/** How long to wait for an answer. */
export interface Patience {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Waits for the answer to a request until the time is over or nobody waits for the login any more. */
export async function withinTime<Value>(
  request: LoginRequest,
  answer: Promise<Value>,
  { timeoutMs, signal }: Patience,
): Promise<Value> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    const seconds = Math.round(timeoutMs / 1000)
    late.abort(new LoginTimeout(`nobody logged in within ${seconds} s. ${adviceFor(request)}`))
  }, timeoutMs)
  try {
    return await orAborted(answer, AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
