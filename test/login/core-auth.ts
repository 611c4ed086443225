import { defineAuth } from '../../src/auth/client/define-auth.ts'
import { mcpError } from '../../src/errors/error.ts'
import type {
  AuthReply,
  AuthRequest,
  AuthServer,
  Authorization,
  ClientAuth,
} from '../../src/rpc/client-auth.ts'

/** What a method was asked. */
export interface Asked {
  readonly servers: AuthServer[]
  readonly requests: AuthRequest[]
  readonly replies: AuthReply[]
  /** How often new credentials were obtained. */
  renewals: number
  closed: number
}

export interface TestAuth extends ClientAuth {
  readonly asked: Asked
}

/**
 * A method that sends a token and renews it once per request after a 401. Requests share a renewal. `renew` gets the request,
 * whose clock it may pause, and returns a token or throws.
 */
export function testAuth(
  first: string | undefined,
  renew: (request: AuthRequest, times: number) => string | Promise<string> = fail,
): TestAuth {
  const asked: Asked = { servers: [], requests: [], replies: [], renewals: 0, closed: 0 }
  let token = first
  let renewing: Promise<string> | undefined
  const open = (server: AuthServer): Authorization => {
    asked.servers.push(server)
    return { attempt, close: () => void asked.closed++ }
  }
  return { ...defineAuth({ name: 'testAuth', open }), asked }

  async function attempt<Reply extends AuthReply>(
    request: AuthRequest,
    send: (headers: Readonly<Record<string, string>>) => Promise<Reply>,
  ): Promise<Reply> {
    asked.requests.push(request)
    const used = token
    const reply = await send(headersOf(used))
    asked.replies.push(reply)
    if (reply.status !== 401) return reply
    await reply.body?.cancel()
    if (token === used) await (renewing ??= renewed(request).finally(() => (renewing = undefined)))
    const again = await send(headersOf(token))
    asked.replies.push(again)
    return again
  }

  async function renewed(request: AuthRequest): Promise<string> {
    return (token = await renew(request, ++asked.renewals))
  }
}

function headersOf(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** A row like that of a failed login. */
const LOGIN_FAILED = {
  kind: 'login_failed' as never,
  where: 'local',
  code: -32000,
  text: 'cannot log in: {reason}',
  hint: 'Correct it.',
} as const

function fail(): never {
  throw loginFailed('the user is gone')
}

/** The error of a method whose login failed. */
export function loginFailed(reason: string): Error {
  return mcpError(LOGIN_FAILED, { reason } as never)
}
