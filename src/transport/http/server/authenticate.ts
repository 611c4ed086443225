import type { McpError } from '../../../errors/error.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Authenticated, Headers, HttpHandler, HttpHead } from './parts.ts'

/** Why a caller is rejected, with headers such as `WWW-Authenticate` that say how to authenticate. */
export interface Challenge {
  readonly error: McpError
  readonly headers: Headers
}

/** Identifies the caller from the head of a request. */
export type Authenticator = (head: HttpHead) => Caller | Promise<Caller>

type Caller = { readonly auth: Auth | undefined } | Challenge

/** Wraps an authenticator: a challenge, or an error it throws, becomes a reply. */
export function createAuthenticate(
  handler: Pick<HttpHandler, 'rejectUnread'>,
  authenticator: Authenticator | undefined,
): HttpHandler['authenticate'] {
  if (authenticator === undefined) return undefined
  return async (head): Promise<Authenticated> => {
    try {
      const caller = await authenticator(head)
      if (!('error' in caller)) return caller
      const reply = handler.rejectUnread(head, caller.error)
      return { reply: { ...reply, headers: { ...reply.headers, ...caller.headers } } }
    } catch (thrown) {
      return { reply: handler.rejectUnread(head, thrown) }
    }
  }
}
