import { Deferred } from '../../../base/deferred.ts'
import { mcpError } from '../../../errors/error.ts'
import { CONNECTION_CLOSED } from '../../../errors/rpc.ts'
import { ASK_REFUSED } from '../../../errors/server.ts'
import type { JsonObject, RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { inLifetime, type Call, type Channel, type Peer } from '../../../rpc/call.ts'
import type { Load } from '../../../rpc/load.ts'
import { SMALL_ANSWER } from '../../../rpc/weight.ts'
import { replyText, type Reply } from '../../../wire/reply.ts'
import { decodeAnswer, encodeNotification, encodeRequest } from '../../../wire/encode.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { EventStream } from './event-stream.ts'
import type { Accepts } from './negotiate.ts'
import {
  callerOf,
  JSON_HEADERS,
  NO_HEADERS,
  STREAM_HEADERS,
  type Headers,
  type HttpIn,
  type HttpOut,
  type Sink,
} from './parts.ts'
import type { HttpSession } from './sessions.ts'

export interface ExchangeOptions {
  readonly limits: Limits
  readonly load: Load
  readonly accepts: Accepts
  readonly headers: Headers
  readonly session: HttpSession | undefined
  /** The exchange of the batch that this message belongs to. */
  readonly batch?: Channel | undefined
  /** The id of the request, or those of all requests in a batch. */
  readonly id?: RequestId | readonly RequestId[] | undefined
  /** The request; absent for that of a batch. */
  readonly request?: HttpIn
  /** The open streams outside sessions. */
  readonly streams: Set<EventStream>
  /** Called when the client disconnects from a stream that cannot be resumed. */
  onGone(): void
}

/** One POST and its reply: a JSON body, or an event stream if something is sent before the response. */
export class Exchange implements Channel {
  readonly #options: ExchangeOptions
  #stream: EventStream | undefined
  #pending: Deferred<HttpOut> | undefined
  /** Fails the questions on a stream that was discarded; set by the first. */
  #lost: Lost | undefined
  /** Whether the client has disconnected from the stream; it may have come back. */
  #isGone = false

  constructor(options: ExchangeOptions) {
    this.#options = options
  }

  emit(method: string, params: JsonObject, peer: Peer): void {
    const { batch, accepts } = this.#options
    if (batch !== undefined) batch.emit(method, params, peer)
    else if (accepts.events) this.#open(peer).send(encodeNotification(method, params, peer.dialect))
  }

  /** Sends a request to the client on the stream of this one; the response arrives in a later POST of the session. */
  get ask(): Channel['ask'] {
    const { session, accepts, batch } = this.#options
    if (batch !== undefined) return batch.ask
    if (session === undefined || !accepts.events) return undefined
    return (method, params, call) => this.#ask(session, method, params, call)
  }

  get isConnected(): boolean {
    return !this.#isGone || this.#stream?.attached === true
  }

  onLeft(listener: () => void): void {
    const { request, session, batch } = this.#options
    if (batch !== undefined) return
    request?.onGone(() => {
      // Only a stream of a session can be resumed.
      if (this.#stream === undefined || session === undefined) listener()
    })
  }

  get isBehind(): boolean {
    const { batch, limits, load, request } = this.#options
    if (batch !== undefined) return batch.isBehind === true
    if ((this.#stream?.waiting ?? 0) > SMALL_ANSWER) return true
    return !budgetsOf({ load }, limits).write.hasRoom(request && callerOf(request))
  }

  cancel(params: JsonObject): void {
    this.#options.session?.cancel(params)
  }

  closeStream(retryMs: number): void {
    const { session, accepts } = this.#options
    if (session !== undefined && accepts.events) this.#open(session.session).detach(retryMs)
  }

  /** The reply to a request that was answered synchronously. */
  reply(status: number, text: Reply | undefined, headers: Headers = this.#options.headers): HttpOut {
    const { accepts } = this.#options
    // A cancelled request gets no response; clients understand an empty stream as that.
    if (this.#stream === undefined && text === undefined && accepts.events) return toStream(EMPTY, headers)
    if (this.#stream === undefined && (accepts.json || text === undefined || status !== 200))
      return toJson(status, text, headers)
    const stream = (this.#stream ??= this.#newStream())
    if (text === undefined) this.#options.session?.discard(stream)
    stream.end(text === undefined ? undefined : replyText(text))
    this.#options.streams.delete(stream)
    return toStream(stream, headers)
  }

  /** The reply to a running request: a stream as soon as something is sent, otherwise the response itself. */
  pending(): Deferred<HttpOut> {
    this.#pending = new Deferred()
    if (this.#stream !== undefined) this.#pending.resolve(toStream(this.#stream, this.#options.headers))
    return this.#pending
  }

  #open(peer: Peer): EventStream {
    if (this.#stream !== undefined) return this.#stream
    const stream = (this.#stream = this.#newStream())
    stream.prime(peer.dialect)
    this.#pending?.resolve(toStream(stream, this.#options.headers))
    return stream
  }

  #newStream(): EventStream {
    const { session, limits, streams, id, onGone } = this.#options
    if (session !== undefined)
      return session.openStream({ onLost: () => this.#lost?.abort(), onGone: () => this.#gone() }, id)
    const stream = new EventStream({ limits, onGone })
    streams.add(stream)
    return stream
  }

  #gone(): void {
    this.#isGone = true
    this.#lost?.gone()
  }

  async #ask({ session }: HttpSession, method: string, params: JsonObject, call: Call): Promise<JsonObject> {
    const stream = this.#open(session)
    const { dialect } = session
    if (stream.ended) throw mcpError(CONNECTION_CLOSED, { method })
    const { limits, load } = this.#options
    const lost = (this.#lost ??= new Lost(method, call))
    const answer = await load.whileAsking(call, limits.allInFlight, () =>
      session.pending.ask(method, (id) => stream.send(encodeRequest(id, method, params, dialect)), {
        signal: AbortSignal.any([call.askingSignal, lost.signal]),
        timeoutMs: limits.questionMs,
        cancel: (requestId) =>
          stream.send(encodeNotification('notifications/cancelled', { requestId }, dialect)),
      }),
    )
    return decodeAnswer(method, answer, params, dialect)
  }
}

/** Aborts what waits for the client of a call, on behalf of that call. */
class Lost extends AbortController {
  readonly #method: string
  readonly #call: Call

  constructor(method: string, call: Call) {
    super()
    this.#method = method
    this.#call = call
  }

  /** The client has disconnected, and may come back. */
  gone(): void {
    inLifetime(this.#call.source.lifetime, () => this.#call.onDisconnect?.())
  }

  override abort(): void {
    const reason = 'the client is not connected, and there is no room to keep the question'
    const error = mcpError(ASK_REFUSED, { method: this.#method, reason })
    inLifetime(this.#call.source.lifetime, () => super.abort(error))
  }
}

const EMPTY = { attach: (sink: Sink): void => sink.end() }

/** A reply with a JSON body, or without a body. */
export function toJson(status: number, text: Reply | undefined, headers: Headers): HttpOut {
  if (text === undefined) return { status, headers }
  const all = headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers }
  return { status, headers: all, body: text }
}

/** A reply with an event stream. */
export function toStream(stream: { attach(sink: never): void }, headers: Headers): HttpOut {
  return {
    status: 200,
    headers: headers === NO_HEADERS ? STREAM_HEADERS : { ...STREAM_HEADERS, ...headers },
    stream: stream as NonNullable<HttpOut['stream']>,
  }
}
