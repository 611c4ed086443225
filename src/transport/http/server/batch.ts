import type { McpError } from '../../../errors/error.ts'
import type { RequestId } from '../../../protocol/jsonrpc.ts'
import { anonymousNetwork } from '../../../rpc/call.ts'
import { idOf } from '../../../rpc/call-table.ts'
import type { InFlight } from '../../../rpc/in-flight.ts'
import { replyText, type Reply } from '../../../wire/reply.ts'
import type { Exchange } from './exchange.ts'
import { callerOf, type Headers, type HttpIn, type HttpOut } from './parts.ts'
import { sizeOf } from './responder.ts'
import type { HttpSession } from './sessions.ts'

const JSON_ONLY = 'application/json'

/** A request for one of `count` messages in a batch; its response becomes a part of the reply to the batch. */
export function partOf(request: HttpIn, batch: Exchange, count: number): HttpIn {
  return {
    method: request.method,
    header: (name) => (name === 'accept' ? JSON_ONLY : request.header(name)),
    headers: () => ({ ...request.headers?.(), accept: JSON_ONLY }),
    body: '',
    size: Math.ceil(sizeOf(request) / count),
    auth: request.auth,
    certified: request.certified,
    get ip() {
      return request.ip
    },
    isLate: request.isLate ?? false,
    ...(request.connection !== undefined && { connection: request.connection }),
    batch,
    onGone: (listener) => request.onGone(listener),
    lifetime: request.lifetime,
  }
}

export interface BatchParts {
  readonly request: HttpIn
  readonly whole: Exchange
  readonly headers: Headers
  /** Absent outside a session. */
  readonly session: HttpSession | undefined
  readonly inFlight: InFlight<HttpOut, Reply>
  /** Answers one message. */
  take(member: unknown): HttpOut | Promise<HttpOut>
  /** The response to something that is not a message. */
  fail(thrown: unknown): HttpOut
  /** Answers a request with an error. */
  refuse(id: RequestId, error: McpError): HttpOut
}

/** The reply to a batch: the responses in the order of the requests, or 202 when it contains no requests. */
export function answerBatch(members: readonly unknown[], parts: BatchParts): Promise<HttpOut> {
  const { promise, resolve, reject } = parts.whole.pending()
  answerAll(members, parts).then(resolve, reject)
  return promise
}

async function answerAll(members: readonly unknown[], parts: BatchParts): Promise<HttpOut> {
  const { request, whole, headers, session, inFlight, refuse } = parts
  const outs = await inFlight.batch({
    members,
    size: sizeOf(request),
    caller: callerOf(request),
    network: anonymousNetwork(request),
    calls: session?.calls,
    take: (member) => answerOne(member, parts),
    lengthOf: ({ body }) => body?.length ?? 0,
    refuse,
  })
  const texts = outs.flatMap(({ body }) => (body === undefined ? [] : [replyText(body)]))
  if (texts.length > 0) return whole.reply(200, `[${texts.join(',')}]`)
  return members.some((member) => idOf(member) !== undefined)
    ? whole.reply(200, undefined)
    : { status: 202, headers }
}

async function answerOne(member: unknown, { take, fail }: BatchParts): Promise<HttpOut> {
  try {
    return await take(member)
  } catch (thrown) {
    return fail(thrown)
  }
}
