import { AUTH_REJECTED } from '../../../errors/auth.ts'
import { type McpError, mcpError } from '../../../errors/error.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import { afterMs, type Timer } from '../../io/timer.ts'
import type { Authenticated, Headers, HttpHandler, HttpHead, HttpIn } from './parts.ts'

/** Why a caller is rejected, with headers such as `WWW-Authenticate` that say how to authenticate. */
export interface Challenge {
  readonly error: McpError
  readonly headers: Headers
}

/** An authenticated caller, with headers for the reply; or why it is rejected. */
export type Caller = { readonly auth: Auth | undefined; readonly headers?: Headers } | Challenge

/** Identifies the caller from the head of a request. */
export type Authenticator = (head: HttpHead) => Caller | Promise<Caller>

/** Wraps an authenticator: a challenge becomes a reply, and so does an error, an unusable challenge, or no answer in time. */
export function createAuthenticate(
  handler: Pick<HttpHandler, 'rejectUnread' | 'limits'>,
  authenticator: Authenticator | undefined,
): HttpHandler['authenticate'] {
  if (authenticator === undefined) return undefined
  const admit = (head: HttpHead, caller: Caller): Authenticated => {
    if (caller.headers !== undefined) checkHeaders(caller.headers)
    if (!('error' in caller)) {
      // They become part of every reply, like those for CORS.
      if (caller.headers !== undefined) head.cors = { ...head.cors, ...caller.headers }
      return caller
    }
    const reply = handler.rejectUnread(head, caller.error)
    return { reply: { ...reply, headers: { ...reply.headers, ...caller.headers } } }
  }
  const reject = (head: HttpHead, thrown: unknown): Authenticated => ({
    reply: handler.rejectUnread(head, thrown),
  })
  return (head) => {
    try {
      const caller = authenticator(head)
      if (!(caller instanceof Promise)) return admit(head, caller)
      return inTime(caller, handler.limits)
        .then((known) => admit(head, known))
        .catch((thrown: unknown) => reject(head, thrown))
    } catch (thrown) {
      return reject(head, thrown)
    }
  }
}

/** Wraps an authenticator for handlers that serve everyone: a caller that is not authenticated has no `auth`. */
export function createIdentify(
  limits: Limits,
  authenticator: Authenticator | undefined,
): HttpHandler['authenticate'] {
  if (authenticator === undefined) return undefined
  return async (head) => {
    try {
      const caller = await inTime(Promise.resolve(authenticator(head)), limits)
      return { auth: 'error' in caller ? undefined : caller.auth }
    } catch {
      return { auth: undefined }
    }
  }
}

/** Whether the caller of a request was revoked after it was authenticated, for example while the body arrived. */
export function isRevoked(
  { leases }: Pick<Service, 'leases'>,
  { auth, certified }: Pick<HttpIn, 'auth' | 'certified'>,
): boolean {
  return leases.isOver(auth) || leases.isOver(certified)
}

/** Throws if the caller of a request was revoked after it was authenticated. */
export function checkCaller(...request: Parameters<typeof isRevoked>): void {
  if (isRevoked(...request)) throw mcpError(AUTH_REJECTED, { reason: 'it was revoked' })
}

/** Rejects if an authenticator takes too long. */
function inTime(asked: Promise<Caller>, { headersMs }: Limits): Promise<Caller> {
  let timer: Timer
  const late = new Promise<never>((_, reject) => {
    timer = afterMs(headersMs, () => reject(new Error(`the authenticator took longer than ${headersMs} ms`)))
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/

/** Throws for headers that cannot be sent. A line break would even end the head of a reply to an upgrade. */
function checkHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(headers))
    if (!HEADER.test(`${name}:${value}`))
      throw new TypeError(`the authenticator returned an invalid header ${JSON.stringify(name)}`)
}
