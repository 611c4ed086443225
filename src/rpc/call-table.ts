import { Bag } from '../base/bag.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Call } from './call.ts'

/** The unanswered requests of one client: those of a connection, or of an HTTP session. */
export class CallTable {
  /** Created by the first asynchronous request: most connected clients are idle. */
  #calls: Bag<Call> | undefined
  /** Requests of batches that have not begun, by id, with the reason if the client cancelled one. */
  #expected: Map<unknown, McpError | undefined> | undefined
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

  /** Whether a request with this id is unanswered. */
  has(id: RequestId): boolean {
    return this.#find(id) !== undefined || this.#expected?.has(id) === true
  }

  /** Remembers the requests among messages that will be taken later, so that the client can cancel them. */
  expect(members: readonly unknown[]): void {
    this.#expected ??= new Map()
    for (const id of members.map(idOf))
      if (id !== undefined && !this.#expected.has(id)) this.#expected.set(id, undefined)
  }

  /** Forgets that a message was expected; returns the reason if the client has cancelled it. */
  claim(member: unknown): McpError | undefined {
    const id = idOf(member)
    const reason = this.#expected?.get(id)
    this.#expected?.delete(id)
    return reason
  }

  #find(id: RequestId): Call | undefined {
    if (this.starting?.id === id) return this.starting
    return this.#calls?.find((call) => call.id === id)
  }

  /** Cancels a request as `notifications/cancelled` asks. */
  cancel({ requestId, reason }: JsonObject): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    const call = this.#find(requestId)
    if (call?.method === 'initialize' || (call === undefined && !this.has(requestId))) return
    const text = typeof reason === 'string' ? `: ${reason.slice(0, 256)}` : ''
    const error = mcpError(CANCELLED, { reason: text })
    if (call === undefined) this.#expected?.set(requestId, error)
    else call.cancel(error)
  }

  /** Cancels all requests because the client disconnected. */
  close(): void {
    for (const call of this.#calls ?? []) call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
  }
}

/** The id of a message if it is a request. */
function idOf(member: unknown): unknown {
  const { id, method } = (member ?? {}) as { readonly id?: unknown; readonly method?: unknown }
  return method === undefined ? undefined : id
}
