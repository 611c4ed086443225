import { Deferred } from '../base/deferred.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Channel } from '../rpc/call.ts'
import { EventStream } from '../transport/http/server/event-stream.ts'
import { toJson, toStream } from '../transport/http/server/exchange.ts'
import type { Accepts } from '../transport/http/server/negotiate.ts'
import type { Headers, HttpOut } from '../transport/http/server/parts.ts'
import { encodeProgress } from './encode.ts'

export interface GistExchangeOptions {
  readonly id: string
  readonly limits: Limits
  readonly accepts: Accepts
  /** Whether progress is sent before the result. */
  readonly streams: boolean
  readonly headers: Headers
  /** The open streams. */
  readonly open: Set<EventStream>
  /** Called when the client disconnects from a stream. */
  onGone(): void
}

/** One POST and its reply: an envelope, or a stream of them if progress is sent first. */
export class GistExchange implements Channel {
  readonly #options: GistExchangeOptions
  #stream: EventStream | undefined
  #pending: Deferred<HttpOut> | undefined

  constructor(options: GistExchangeOptions) {
    this.#options = options
  }

  /** Sends progress; the gist has no form for other notifications. */
  emit(method: string, params: JsonObject): void {
    const { id, streams } = this.#options
    if (streams && method === 'notifications/progress') this.#open().send(encodeProgress(id, params))
  }

  /** The final reply; without a text, the reply to a cancelled call. */
  reply(status: number, text: string | undefined, headers: Headers = this.#options.headers): HttpOut {
    const { accepts, open } = this.#options
    if (this.#stream === undefined && (accepts.json || text === undefined || status !== 200))
      return toJson(status, text, headers)
    const stream = (this.#stream ??= this.#newStream())
    stream.end(text)
    open.delete(stream)
    return toStream(stream, headers)
  }

  /** The reply to a running call: a stream as soon as progress is sent, otherwise the result itself. */
  pending(): Deferred<HttpOut> {
    this.#pending = new Deferred()
    if (this.#stream !== undefined) this.#pending.resolve(toStream(this.#stream, this.#options.headers))
    return this.#pending
  }

  #open(): EventStream {
    if (this.#stream !== undefined) return this.#stream
    const stream = (this.#stream = this.#newStream())
    this.#pending?.resolve(toStream(stream, this.#options.headers))
    return stream
  }

  #newStream(): EventStream {
    const { limits, open, onGone } = this.#options
    const stream = new EventStream({ limits, onGone })
    open.add(stream)
    return stream
  }
}
