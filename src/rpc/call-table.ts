import { mcpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import { idText, type JsonObject, type RequestId } from '../protocol/jsonrpc.ts'
import type { Call } from './call.ts'

/** The unanswered requests of one client, by id: those of a connection, or of an HTTP session. */
export class CallTable {
  /** Created by the first asynchronous request: most connected clients are idle. */
  #calls: Map<string, Call> | undefined
  /** The request whose handler is running synchronously; an in-process client may send more before it returns. */
  starting: Call | undefined = undefined

  get size(): number {
    return this.#calls?.size ?? 0
  }

  add(call: Call): void {
    this.#calls ??= new Map()
    this.#calls.set(idText(call.id as RequestId), call)
  }

  delete(call: Call): void {
    this.#calls?.delete(idText(call.id as RequestId))
  }

  find(id: RequestId): Call | undefined {
    if (this.starting?.id === id) return this.starting
    return this.#calls === undefined || this.#calls.size === 0 ? undefined : this.#calls.get(idText(id))
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
    for (const call of this.#calls?.values() ?? [])
      call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
  }
}
