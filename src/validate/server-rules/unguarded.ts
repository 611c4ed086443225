import type { Message } from '../message.ts'
import type { ServerSubject } from '../server-subject.ts'
import type { Session } from '../session.ts'
import { HttpWire } from '../wire-http.ts'
import type { HttpReply } from '../wire.ts'
import { requestsOf } from './method-rules.ts'

/** Headers without the user's token, or with another one. */
interface Credentials {
  readonly what: string
  readonly authorization: string | undefined
}

/** Requests for servers that tell nobody without a token what they have. */
const USUAL: readonly (readonly [method: string, params: Message | undefined])[] = [
  ['tools/list', undefined],
  ['tools/call', { name: 'validator_unknown', arguments: {} }],
  ['resources/list', undefined],
  ['prompts/list', undefined],
]

/**
 * A request besides the greeting that a protected server does not refuse with status 401 without a token, or with one that is none: a request of
 * each method, a notification, and the GET and DELETE of a session. Without a token of the user, any status of a refusal will do.
 */
export async function unguarded(
  subject: ServerSubject,
  { wrong, hasToken }: { readonly wrong: string; readonly hasToken: boolean },
): Promise<string | undefined> {
  const session = hasToken ? await subject.session() : await subject.silent()
  const { wire } = session
  if (!(wire instanceof HttpWire)) return undefined
  const asks = hasToken ? await requestsOf(subject) : USUAL
  const messages = [
    ...asks
      .filter(([method]) => method !== 'validator/unknown')
      .map(([method, params]) => session.requestOf(method, params)),
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'validator' } },
  ]
  const all: readonly Credentials[] = [
    { what: 'without a token', authorization: undefined },
    { what: 'with a text that is no token', authorization: `Bearer ${wrong}` },
  ]
  for (const { what, authorization } of all) {
    const replies = await Promise.all(
      messages.map(async (message) => {
        const { status } = await post(session, wire, { message, authorization })
        return { method: String(message['method']), status }
      }),
    )
    // Another refusal than 401 may be about the session, which only those with a token have.
    const found = replies.find(({ status }) => (hasToken ? status !== 401 : status < 400))
    if (found !== undefined) return `${found.method} ${what} is answered with status ${found.status}`
    const method = hasToken ? await unguardedMethod(wire, authorization) : undefined
    if (method !== undefined) return `${method} ${what} is accepted`
  }
  return undefined
}

async function post(
  session: Session,
  wire: HttpWire,
  { message, authorization }: { readonly message: Message; readonly authorization: string | undefined },
): Promise<HttpReply> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...wire.more,
    ...session.headersOf(message),
    authorization,
  }
  const reply = await wire.call('POST', headers, JSON.stringify(message))
  if (reply.isStream) reply.close()
  return reply
}

/** GET and DELETE of a session that are accepted without its token. A server without them refuses both. */
async function unguardedMethod(
  wire: HttpWire,
  authorization: string | undefined,
): Promise<string | undefined> {
  if (wire.more['mcp-session-id'] === undefined) return undefined
  for (const method of ['GET', 'DELETE']) {
    const accept = method === 'GET' ? { accept: 'text/event-stream' } : {}
    const reply = await wire.call(method, { ...accept, ...wire.more, authorization })
    if (reply.isStream) reply.close()
    if (reply.status < 400) return method
  }
  return undefined
}
