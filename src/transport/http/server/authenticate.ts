import type { McpError } from '../../../errors/error.ts'
import type { Auth } from '../../../rpc/call.ts'
import { afterMs } from '../../io/timer.ts'
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
    try {
      const caller = await inTime(authenticator(head), handler.limits.headersMs)
      if (!('error' in caller)) return caller
      checkHeaders(caller.headers)
      const reply = handler.rejectUnread(head, caller.error)
      return { reply: { ...reply, headers: { ...reply.headers, ...caller.headers } } }
    } catch (thrown) {
      return { reply: handler.rejectUnread(head, thrown) }
    }
  }
}

function inTime(caller: Caller | Promise<Caller>, ms: number): Caller | Promise<Caller> {
  if (!(caller instanceof Promise)) return caller
  return new Promise((resolve, reject) => {
    const timer = afterMs(ms, () => reject(new Error(`the authenticator did not answer within ${ms} ms`)))
    void caller.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws for headers that cannot be sent. A line break would even end the head of a reply to an upgrade. */
function checkHeaders(headers: Headers): void {
  const wrong = Object.entries<unknown>(headers).find(
    ([name, value]) => !NAME.test(name) || typeof value !== 'string' || !VALUE.test(value),
  )
  if (wrong !== undefined)
    throw new TypeError(`the authenticator returned an invalid header ${JSON.stringify(wrong[0])}`)
}
