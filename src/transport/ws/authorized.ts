import { toHttpUrl } from '../../base/http-url.ts'
import type { McpError } from '../../errors/error.ts'
import { scopeChallenge } from '../../rpc/scopes.ts'
import type { AuthReply, ClientAuth } from '../../rpc/client-auth.ts'
import { loginsOf, type AuthOwner, type LoginRequest } from '../../rpc/logins.ts'
import type { HeaderRecord } from '../http/client/headers.ts'
import { replyOf } from './rejections.ts'

/** The reply to an opening request, and the error if the server rejected it. */
interface Reply extends AuthReply {
  readonly error?: McpError
}

/** Stands for the 403 that a request over HTTP would have got, on a connection that lacks scopes. */
function lacking(scopes: readonly string[]): Reply {
  const challenge = scopeChallenge([...new Set(scopes)])
  return { status: 403, headers: new Headers({ 'www-authenticate': challenge }) }
}

interface AuthorizedOpening extends Pick<LoginRequest, 'headers' | 'signal' | 'bound' | 'opens'> {
  readonly owner: AuthOwner
}

const OPENED: Reply = { status: 101, headers: new Headers() }

/**
 * Opens a connection with the credentials of a client, and with more scopes if the last one lacked some and the method can get them. `open`
 * rejects with an error whose cause shows the reply.
 */
export async function openAuthorized(
  { owner, headers, signal, bound, opens }: AuthorizedOpening,
  open: (headers: HeaderRecord) => Promise<void>,
): Promise<void> {
  const { clock } = owner.events ?? {}
  const sending = { verb: 'GET', method: 'initialize', headers, signal, clock, bound, opens } as const
  let forbidden = owner.missing && lacking(owner.missing)
  owner.missing = undefined
  const openWith = (all: HeaderRecord): Promise<Reply> =>
    open(all).then(
      () => OPENED,
      (error: McpError) => {
        const reply = replyOf(error.cause)
        if (reply === undefined) throw error
        return { ...reply, error }
      },
    )
  let last: HeaderRecord = headers
  const send = (all: HeaderRecord): Promise<Reply> => {
    const reply = forbidden
    forbidden = undefined
    last = all
    return reply === undefined ? openWith(all) : Promise.resolve(reply)
  }
  const auth = owner.auth as ClientAuth
  const reply = await loginsOf(owner, auth).attempt(auth, toHttpUrl(owner.url), sending, send)
  // A method that cannot get more scopes leaves the connection as it was.
  const { error } = reply.status === 403 && reply.error === undefined ? await openWith(last) : reply
  if (error !== undefined) throw error
}
