import type { McpError } from '../../../errors/error.ts'
import type { Auth } from '../../../rpc/call.ts'
import { afterMs, type Timer } from '../../io/timer.ts'
import type { Authenticated, Headers, HttpHandler, HttpHead } from './parts.ts'

/** Why a caller is rejected, with headers such as `WWW-Authenticate` that say how to authenticate. */
export interface Challenge {
  readonly error: McpError
  readonly headers: Headers
}

/** Identifies the caller from the head of a request. */
export type Authenticator = (head: HttpHead) => Caller | Promise<Caller>

type Caller = { readonly auth: Auth | undefined } | Challenge

/** Wraps an authenticator: a challenge becomes a reply, and so does an error, an unusable challenge, or no answer in time. */
export function createAuthenticate(
  handler: Pick<HttpHandler, 'rejectUnread' | 'limits'>,
  authenticator: Authenticator | undefined,
): HttpHandler['authenticate'] {
  if (authenticator === undefined) return undefined
  return async (head): Promise<Authenticated> => {
    const { headersMs } = handler.limits
    let timer: Timer
    const late = new Promise<never>((_, reject) => {
      timer = afterMs(headersMs, () =>
        reject(new Error(`the authenticator took longer than ${headersMs} ms`)),
      )
    })
    try {
      const caller = await Promise.race([authenticator(head), late])
      if (!('error' in caller)) return caller
      checkHeaders(caller.headers)
      const reply = handler.rejectUnread(head, caller.error)
      return { reply: { ...reply, headers: { ...reply.headers, ...caller.headers } } }
    } catch (thrown) {
      return { reply: handler.rejectUnread(head, thrown) }
    } finally {
      clearTimeout(timer)
    }
  }
}

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/

/** Throws for headers that cannot be sent. A line break would even end the head of a reply to an upgrade. */
function checkHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(headers))
    if (!HEADER.test(`${name}:${value}`))
      throw new TypeError(`the authenticator returned an invalid header ${JSON.stringify(name)}`)
}
