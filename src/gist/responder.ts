import { mcpError, type McpError } from '../errors/error.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'
import type { CallTable } from '../rpc/call-table.ts'
import type { Pending, Responder } from '../rpc/in-flight.ts'
import { callerOf, type Headers, type HttpIn, type HttpOut } from '../transport/http/server/parts.ts'
import { sizeOf } from '../transport/http/server/responder.ts'
import type { HttpSession } from '../transport/http/server/sessions.ts'
import type { Sweeper } from '../transport/http/server/sweeper.ts'
import { encodeFailure, statusOf } from './encode.ts'
import type { GistExchange } from './exchange.ts'

/** One running call. */
export interface Way {
  readonly request: HttpIn
  readonly headers: Headers
  readonly session: HttpSession | undefined
  readonly exchange: GistExchange
  readonly begun: number
  /** The headers of an error reply. */
  errorHeaders(error: McpError): Headers
  /** The text of the reply, once there is a result. */
  encode(result: JsonObject): string
}

/** Turns the outcome of one call into an envelope. */
export class GistResponder implements Responder<HttpOut, string> {
  readonly #sweeper: Sweeper
  readonly #way: Way

  constructor(sweeper: Sweeper, way: Way) {
    this.#sweeper = sweeper
    this.#way = way
  }

  get caller(): unknown {
    return callerOf(this.#way.request)
  }

  get size(): number {
    return sizeOf(this.#way.request)
  }

  get isInBatch(): boolean {
    return false
  }

  get calls(): CallTable | undefined {
    return this.#way.session?.calls
  }

  encode(_call: Call, result: JsonObject): string {
    return this.#way.encode(result)
  }

  result(call: Call, text: string): HttpOut {
    return this.#end(call, this.#way.exchange.reply(200, text))
  }

  error(call: Call, error: McpError): HttpOut {
    const { exchange, begun } = this.#way
    const text = encodeFailure(call.id as string, error, performance.now() - begun)
    return this.#end(call, exchange.reply(statusOf(error), text, this.#way.errorHeaders(error)))
  }

  cancelled(call: Call): HttpOut {
    return this.#end(call, this.#way.exchange.reply(204, undefined, this.#way.headers))
  }

  pending(call: Call): Pending<HttpOut> {
    this.#sweeper.begin()
    this.#way.request.onGone(() => {
      if (!call.ended) call.cancel(gone(call.method))
    })
    return this.#way.exchange.pending()
  }

  /** Closes a session that was created for this call alone. */
  #end(call: Call, out: HttpOut): HttpOut {
    if (this.#way.session === undefined) call.peer.session?.close()
    return out
  }
}

export function gone(method: string): McpError {
  return mcpError(CONNECTION_CLOSED, { method })
}
