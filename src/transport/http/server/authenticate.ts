import type { McpError } from '../../../errors/error.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Authenticated, Headers, HttpHandler, HttpHead } from './parts.ts'

/** Why a caller is turned down, and what it must do to be let in, e.g. in `WWW-Authenticate`. */
export interface Challenge {
  readonly error: McpError
  readonly headers: Headers
}

/** Establishes who calls from the head of a request. */
export type Authenticator = (head: HttpHead) => Caller | Promise<Caller>

type Caller = { readonly auth: Auth | undefined } | Challenge

/** Asks an authenticator, and turns a challenge, or its failure, into a reply. */
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
