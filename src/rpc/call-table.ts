import { Bag } from '../base/bag.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Call } from './call.ts'

/** Two longer ids of the same length are compared character by character. A new id is compared with those of all unanswered requests, so few may have long ones. */
export const LONG_ID = 1024
const MOST_LONG = 16

/** A request of a batch that has not begun. */
interface Expected {
  /** The messages of its batch. */
  readonly batch: readonly unknown[]
  /** Set if the client cancelled it. */
  reason?: McpError
}

/** A request whose handler is running synchronously, the table of its client, and the one that was starting before. */
interface Starting {
  readonly call: Call
  readonly calls: CallTable
  readonly outer: Starting | undefined
}

/**
 * What is starting now; an in-process client may send more requests before its handler returns. It is not in the tables: these are old,
 * and the collector looks again at each old object that a new one was written to, which with many sessions is another one for each call.
 */
export const starting: { now: Starting | undefined } = { now: undefined }

/** The unanswered requests of one client: those of a connection, or of an HTTP session. */
export class CallTable {
  /** Only while there are asynchronous requests: most connected clients are idle. */
  #calls: Bag<Call> | undefined
  /** Requests of batches that have not begun, by id. */
  #expected: Map<RequestId | undefined, Expected> | undefined
  /** The number of unanswered requests with long ids. */
  #long = 0
  /** Called when a request ends that was not answered at once, just before its response is sent. */
  onEnd: ((id: RequestId) => void) | undefined = undefined

  get size(): number {
    return this.#calls?.size ?? 0
  }

  /** The ids of all unanswered requests. */
  get ids(): readonly RequestId[] {
    const running = [...(this.#calls ?? [])].map(({ id }) => id)
    return [...running, ...(this.#expected?.keys() ?? [])].filter((id) => id !== undefined)
  }

  add(call: Call): void {
    this.#calls ??= new Bag()
    this.#calls.add(call)
    if (isLong(call.id)) this.#long++
  }

  delete(call: Call): void {
    const wasThere = this.#calls?.delete(call) === true
    if (this.size === 0) this.#calls = undefined
    if (wasThere && isLong(call.id)) this.#long--
    if (wasThere && call.id !== undefined) this.onEnd?.(call.id)
  }

  /** Whether a request with this id is unanswered. */
  has(id: RequestId): boolean {
    return this.#find(id) !== undefined || this.#expected?.has(id) === true
  }

  /** Whether one more request may have this id: it is short, or few others are long. */
  hasRoomFor(id: RequestId): boolean {
    return this.#long < MOST_LONG || !isLong(id)
  }

  /** Remembers the requests among the rest of a batch, which will be taken later, so that the client can cancel them, unless their ids are long. */
  expect(rest: readonly unknown[], batch: readonly unknown[]): void {
    this.#expected ??= new Map()
    for (const id of rest.map(idOf))
      if (id !== undefined && !isLong(id) && !this.#expected.has(id)) this.#expected.set(id, { batch })
  }

  /** Forgets that a message of a batch was expected; returns the reason if the client has cancelled it. */
  claim(member: unknown, batch: readonly unknown[]): McpError | undefined {
    const id = idOf(member)
    const expected = this.#expected?.get(id)
    // Another batch may have a request with the same id, which is in use until then.
    if (expected?.batch !== batch) return undefined
    this.#expected?.delete(id)
    return expected.reason
  }

  #find(id: RequestId): Call | undefined {
    for (let at = starting.now; at !== undefined; at = at.outer)
      if (at.calls === this && at.call.id === id) return at.call
    return this.#calls?.find((call) => call.id === id)
  }

  /** Cancels a request as `notifications/cancelled` asks; false if there is no such request. */
  cancel({ requestId, reason }: JsonObject): boolean {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return false
    const call = this.#find(requestId)
    const expected = call === undefined ? this.#expected?.get(requestId) : undefined
    if (call === undefined && expected === undefined) return false
    if (call?.method === 'initialize') return true
    const text = typeof reason === 'string' ? `: ${reason.slice(0, 256)}` : ''
    const error = mcpError(CANCELLED, { reason: text })
    call?.cancel(error)
    if (expected !== undefined) expected.reason = error
    return true
  }

  /** Cancels all requests because the client disconnected. */
  close(): void {
    for (const call of this.#calls ?? []) call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
  }
}

/** Whether comparing an id with others takes long. */
export function isLong(id: RequestId | undefined): id is string {
  return typeof id === 'string' && id.length > LONG_ID
}

/** The id of a message that is not checked yet, if it is a request. */
export function idOf(member: unknown): RequestId | undefined {
  const { id, method } = (member ?? {}) as { readonly id?: unknown; readonly method?: unknown }
  const isId = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
  return isId && method !== undefined ? id : undefined
}
