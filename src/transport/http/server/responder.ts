import type { McpError } from '../../../errors/error.ts'
import { toErrorObject, toStatus } from '../../../errors/reply.ts'
import type { JsonObject, RequestId } from '../../../protocol/jsonrpc.ts'
import type { Call } from '../../../rpc/call.ts'
import type { CallTable } from '../../../rpc/call-table.ts'
import type { Pending, Responder } from '../../../rpc/in-flight.ts'
import { encodeResult } from '../../../wire/encode.ts'
import { encodeError, encodeReply, type Reply } from '../../../wire/reply.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { callerOf, type Headers, type HttpIn, type HttpOut } from './parts.ts'
import type { HttpSession } from './sessions.ts'

export interface ResponderOptions {
  readonly headers: Headers
  /** Absent for a request outside a session. */
  readonly session: HttpSession | undefined
  /** Called after a successful handshake; throws when there is no room for the session. */
  readonly opened?: () => void
}

/** Turns the outcome of one call into an HTTP reply. */
export class HttpResponder implements Responder<HttpOut, Reply> {
  readonly #endpoint: Endpoint
  readonly #exchange: Exchange
  readonly #request: HttpIn
  readonly #options: ResponderOptions
  readonly #onGone: (() => void) | undefined

  /** `onGone` is called when the client disconnects before the reply. */
  constructor(
    endpoint: Endpoint,
    exchange: Exchange,
    request: HttpIn,
    options: ResponderOptions,
    onGone: (() => void) | undefined,
  ) {
    this.#endpoint = endpoint
    this.#exchange = exchange
    this.#request = request
    this.#options = options
    this.#onGone = onGone
  }

  get caller(): unknown {
    return callerOf(this.#request)
  }

  get size(): number {
    return sizeOf(this.#request)
  }

  get isInBatch(): boolean {
    return this.#request.batch !== undefined
  }

  get calls(): CallTable | undefined {
    return this.#options.session?.calls
  }

  encode({ id, method, peer }: Call, result: JsonObject): Reply {
    const encoded = encodeResult(method, result, peer.dialect, this.#endpoint.service.info)
    this.#options.opened?.()
    return encodeReply(id as RequestId, encoded)
  }

  result(call: Call, text: Reply): HttpOut {
    return this.#end(call, this.#exchange.reply(200, text, this.#options.headers))
  }

  error(call: Call, error: McpError): HttpOut {
    const { dialect } = call.peer
    const text = encodeError(call.id, toErrorObject(error, dialect))
    const headers = this.#endpoint.errorHeaders(error, this.#options.headers)
    return this.#end(call, this.#exchange.reply(toStatus(error, dialect), text, headers))
  }

  cancelled(call: Call): HttpOut {
    return this.#end(call, this.#exchange.reply(204, undefined, this.#options.headers))
  }

  pending(): Pending<HttpOut> {
    this.#endpoint.sweeper.begin()
    if (this.#onGone !== undefined) this.#request.onGone(this.#onGone)
    return this.#exchange.pending()
  }

  /** Closes a session that was created for this call alone, or whose handshake failed. */
  #end(call: Call, out: HttpOut): HttpOut {
    const { session, opened } = this.#options
    const isUnused = session === undefined || (opened !== undefined && !this.#endpoint.sessions.has(session))
    if (isUnused) {
      call.peer.session?.close()
      session?.release()
    }
    return out
  }
}

/** The size of a body in characters, even of one that a framework has parsed. */
export function sizeOf({ body, size }: HttpIn): number {
  return body.length || (size ?? 0)
}

/** Forgets the content of a request that was parsed, but not its size: the request stays in memory while it runs. */
export function dropBody(request: HttpIn): void {
  request.size = sizeOf(request)
  request.body = ''
  request.parsed = undefined
}
