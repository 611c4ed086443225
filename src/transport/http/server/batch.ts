import { idOf } from '../../../rpc/call-table.ts'
import { replyText } from '../../../wire/reply.ts'
import type { Exchange } from './exchange.ts'
import type { Headers, HttpIn, HttpOut } from './parts.ts'
import { sizeOf } from './responder.ts'

const JSON_ONLY = 'application/json'

/** A request for one of `count` messages in a batch; its response becomes a part of the reply to the batch. */
export function partOf(request: HttpIn, batch: Exchange, count: number): HttpIn {
  return {
    method: request.method,
    header: (name) => (name === 'accept' ? JSON_ONLY : request.header(name)),
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
  readonly whole: Exchange
  readonly headers: Headers
  /** Answers all messages with `take`, which never throws. */
  begin(take: (member: unknown) => Promise<HttpOut>): HttpOut[] | Promise<HttpOut[]>
  /** Answers one message. */
  take(member: unknown): HttpOut | Promise<HttpOut>
  /** The response to something that is not a message. */
  fail(thrown: unknown): HttpOut
}

/** The reply to a batch: the responses in the order of the requests, or 202 when it contains no requests. */
export async function answerBatch(members: readonly unknown[], parts: BatchParts): Promise<HttpOut> {
  const { whole, headers, begin } = parts
  const outs = await begin((member) => answerOne(member, parts))
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
