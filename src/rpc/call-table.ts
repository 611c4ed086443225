import { Bag } from '../base/bag.ts'
import { mcpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Call } from './call.ts'

/** The unanswered requests of one client: those of a connection, or of an HTTP session. */
export class CallTable {
  /** Created by the first asynchronous request: most connected clients are idle. */
  #calls: Bag<Call> | undefined
  /** The request whose handler is running synchronously; an in-process client may send more before it returns. */
  starting: Call | undefined = undefined

  get size(): number {
    return this.#calls?.size ?? 0
  }

  add(call: Call): void {
    this.#calls ??= new Bag()
    this.#calls.add(call)
  }

  delete(call: Call): void {
    this.#calls?.delete(call)
  }

  find(id: RequestId): Call | undefined {
    if (this.starting?.id === id) return this.starting
    return this.#calls?.find((call) => call.id === id)
  }

  /** Cancels a request as `notifications/cancelled` asks. */
  cancel({ requestId, reason }: JsonObject): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    const call = this.find(requestId)
    if (call === undefined || call.method === 'initialize') return
    call.cancel(
      mcpError(CANCELLED, { reason: typeof reason === 'string' ? `: ${reason.slice(0, 256)}` : '' }),
    )
  }

  /** Cancels all requests because the client disconnected. */
  close(): void {
    for (const call of this.#calls ?? []) call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
  }
}
