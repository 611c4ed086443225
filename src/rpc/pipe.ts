import { McpError, mcpError } from '../errors/error.ts'
import { CLOSED } from '../errors/rpc.ts'
import type { RequestId, Message } from '../protocol/jsonrpc.ts'
import type { TransportEvents, OutgoingRequest, CancelListener } from './client-transport.ts'

export interface PipeOptions {
  readonly events: TransportEvents
  /** Writes one message; throws when it cannot be taken. */
  write(text: string): void
}

/**
 * The client's end of a stream that carries messages both ways: answers find their request by id, everything else is
 * handed to the client, and no request waits longer than the stream lives.
 */
export class Pipe {
  readonly #events: TransportEvents
  readonly #write: (text: string) => void
  readonly #waiting = new Map<RequestId, Waiting>()
  #failure: McpError | undefined

  constructor({ events, write }: PipeOptions) {
    this.#events = events
    this.#write = write
  }

  /** How many requests wait for their answer. */
  get size(): number {
    return this.#waiting.size
  }

  /** Why nothing can be sent any more. */
  get failure(): McpError | undefined {
    return this.#failure
  }

  /** The id of the one request that waits; undefined when none does, or several. */
  get only(): RequestId | undefined {
    return this.#waiting.size === 1 ? this.#waiting.keys().next().value : undefined
  }

  request(outgoing: OutgoingRequest): Promise<Message> {
    return new Promise((resolve, reject) => {
      const { cancel } = outgoing
      if (this.#failure !== undefined) return reject(unanswered(outgoing.method, this.#failure))
      if (cancel.aborted) return reject(cancel.reason as Error)
      const waiting = new Waiting(outgoing, this.#waiting, resolve, reject)
      this.#waiting.set(outgoing.id, waiting)
      cancel.onCancel(waiting)
      try {
        this.#write(outgoing.text)
      } catch (thrown) {
        waiting.end()
        reject(thrown as Error)
      }
    })
  }

  /** Takes a message from the server. An answer that nobody waits for is ignored. */
  take(message: Message): void {
    if (message.method !== undefined) return this.#events.onMessage(message)
    // An error without an id is about a message that could not be read: that of the one who waits, if there is just one.
    const waiting = this.#waiting.get((message.id ?? this.only) as RequestId)
    if (waiting === undefined) return message.id === undefined ? this.#complain(message) : undefined
    waiting.end()
    waiting.resolve(message)
  }

  /** Fails one request; false when nobody waits under the id. */
  refuse(id: RequestId | undefined, toError: (method: string) => McpError): boolean {
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (waiting === undefined) return false
    waiting.end()
    waiting.reject(toError(waiting.outgoing.method))
    return true
  }

  /** Fails everything that waits and all that would be sent. Only the first reason counts. */
  fail(reason: McpError): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    for (const waiting of this.#waiting.values()) {
      waiting.end()
      waiting.reject(unanswered(waiting.outgoing.method, reason))
    }
  }

  #complain({ error }: Message): void {
    const text = `the server could not read a message and says: ${error?.message.slice(0, 256) ?? 'nothing'}`
    this.#events.onNote?.('stream', text)
  }
}

/** A request on its way, until it is answered or nobody waits any more. */
class Waiting implements CancelListener {
  readonly outgoing: OutgoingRequest
  readonly resolve: (answer: Message) => void
  readonly reject: (error: unknown) => void
  readonly #all: Map<RequestId, Waiting>

  constructor(
    outgoing: OutgoingRequest,
    all: Map<RequestId, Waiting>,
    resolve: (answer: Message) => void,
    reject: (error: unknown) => void,
  ) {
    this.outgoing = outgoing
    this.#all = all
    this.resolve = resolve
    this.reject = reject
  }

  end(): void {
    this.#all.delete(this.outgoing.id)
    this.outgoing.cancel.onCancel(undefined)
  }

  cancelled(): void {
    this.end()
    this.reject(this.outgoing.cancel.reason)
  }
}

function unanswered(method: string, reason: McpError): McpError {
  if (reason.kind === 'closed') return mcpError(CLOSED, {}, { cause: reason })
  const extras = {
    cause: reason,
    ...(reason.data === undefined ? {} : { data: reason.data }),
    // Whatever ended the stream, nobody knows whether this has run.
    ...(reason.refusal === undefined ? {} : { refusal: 'TRANSPORT_ERROR' as const }),
  }
  return new McpError(reason.kind, `${method} was not answered: ${reason.message}`, extras)
}
