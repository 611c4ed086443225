import type { IncomingMessage } from 'node:http'
import type { ErrorExtras } from '../../errors/error.ts'
import type { AuthReply } from '../../rpc/client-auth.ts'
import { hintOf401 } from '../http/client/failure.ts'

const replies = new WeakMap<object, AuthReply>()

/** What to do about replies to an opening request. */
const REMEDIES: ReadonlyMap<number, string> = new Map([
  [401, ': it needs a login, or other credentials'],
  [403, ': it does not allow this; ask for a token with more scopes, or check hosts and cors of the server'],
])

/** Notes the reply of a server that did not upgrade, which the library hides. */
export function noteReply(error: Error, { statusCode = 0, headers }: IncomingMessage): void {
  const get = (name: string): string | null => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }
  replies.set(error, { status: statusCode, headers: { get } })
}

/** The reply that caused an error, if a server did not upgrade. */
export function replyOf(cause: unknown): AuthReply | undefined {
  return cause instanceof Error ? replies.get(cause) : undefined
}

/** Says why a server did not upgrade. */
export function rejectionText({ status }: AuthReply): string {
  return `it answered with HTTP status ${status}${REMEDIES.get(status) ?? ''}`
}

/** The facts about a rejection that callers react to. */
export function extrasOf(cause: unknown): ErrorExtras {
  const reply = replyOf(cause)
  if (reply === undefined) return {}
  const { status, headers } = reply
  const wwwAuthenticate = headers.get('www-authenticate')
  const data = { status, ...(wwwAuthenticate !== null && { wwwAuthenticate }) }
  return status === 401 ? { data, hint: hintOf401(wwwAuthenticate) } : { data }
}
