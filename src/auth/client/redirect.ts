import { orAborted } from '../../base/backoff.ts'
import { LoginProblem } from './problem.ts'

/** Where the issuer sends the browser with its answer. */
export interface Redirect {
  readonly uri: string
  /** Shows a person the page of the issuer, and resolves with the URL to which the browser was sent afterwards. */
  receive(page: URL, state: string): Promise<URL>
  close(): void
}

/** Nobody logged in for a long time. */
export class LoginTimeout extends LoginProblem {}

/** Waits for an answer until the time is over or nobody waits for the login any more. */
export async function withinTime<Value>(
  answer: Promise<Value>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Value> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    late.abort(new LoginTimeout(`nobody logged in within ${Math.round(timeoutMs / 1000)} s`))
  }, timeoutMs)
  try {
    return await orAborted(answer, AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
