import { copyOf } from '../base/copy-of.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CLOSED } from '../errors/rpc.ts'
import { isObject, type RequestId, type Message } from '../protocol/jsonrpc.ts'
import type { TransportEvents, OutgoingRequest, CancelListener } from './client-transport.ts'

export interface MessageStreamOptions {
  readonly events: TransportEvents
  /** Writes one message; throws when it cannot be accepted. */
  write(text: string): void
  /** Called when nobody waits for a request any more. */
  onCancelled?(outgoing: OutgoingRequest): void
}

/**
 * The client's end of a two-way message stream. Responses settle their request by id, everything else goes to the
 * client, and pending requests fail when the stream does.
 */
export class MessageStream {
  readonly #events: TransportEvents
  readonly #write: (text: string) => void
  readonly #waiting = new Requests()
  #failure: McpError | undefined
  /** How many of the last messages were not valid, nor seemed to answer a request. */
  invalid = 0
  /** How many requests of the server arrived. */
  asked = 0

  constructor({ events, write, onCancelled }: MessageStreamOptions) {
    this.#events = events
    this.#write = write
    this.#waiting.onCancelled = onCancelled
  }

  /** The number of pending requests. */
  get size(): number {
    return this.#waiting.size
  }

  /** Why nothing more can be sent. */
  get failure(): McpError | undefined {
    return this.#failure
  }

  /** The id of the only pending request; undefined when there are none or several. */
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

  /** To be called before something other than a request is sent: an error without an id may be about that. Throws if the stream failed. */
  sentOther(): void {
    if (this.#failure !== undefined) throw this.#failure
    for (const waiting of this.#waiting.values()) waiting.isAlone = false
  }

  /** Receives a message from the server. Unexpected responses are ignored. */
  take(message: Message): void {
    this.invalid = 0
    if (message.method !== undefined) {
      if (message.id !== undefined) this.asked++
      return this.#events.onMessage(message)
    }
    if (message.id === undefined) return this.#takeUnnumbered(message)
    const waiting = this.#waiting.get(message.id)
    if (waiting === undefined) return
    if (waiting.at > this.#waiting.abandoned) this.#waiting.abandoned = 0
    waiting.end()
    waiting.resolve(message)
  }

  /**
   * An error without an id reports a message that was not read. If just one request is pending, and nothing else was sent, it
   * is that one. Since that is a guess, the request may have run.
   */
  #takeUnnumbered({ error }: Message): void {
    const waiting = this.#waiting.get(this.only as RequestId)
    if (error === undefined || waiting?.isAlone !== true || this.#waiting.abandoned > 0)
      return this.#note(error?.message)
    const { data = {} } = error
    waiting.end()
    const { code, message } = error
    const marked = Object.assign(copyOf(isObject(data) ? data : { value: data }), { mayHaveRun: true })
    waiting.resolve({ error: { code, message, data: marked } })
  }

  /** Fails one request because its response is not valid; false when no request with this id is pending. */
  reject(id: RequestId | undefined, toError: (method: string) => McpError): boolean {
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (waiting === undefined) {
      this.invalid++
      return false
    }
    waiting.end()
    waiting.reject(toError(waiting.outgoing.method))
    return true
  }

  /** Fails all pending and future requests. Only the first reason counts. */
  fail(reason: McpError): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    for (const waiting of this.#waiting.values()) {
      waiting.end()
      waiting.reject(unanswered(waiting.outgoing.method, reason))
    }
  }

  #note(reason = 'it gave no reason'): void {
    this.#events.onNote?.('stream', `the server could not read a message: ${reason.slice(0, 256)}`)
  }
}

/** The pending requests by id. */
class Requests extends Map<RequestId, Waiting> {
  /** How many were sent so far. */
  sent = 0
  /** How many had been sent when one was abandoned; 0 when the server has answered a later one. */
  abandoned = 0
  onCancelled: MessageStreamOptions['onCancelled']
}

/** A pending request, until it is answered or cancelled. */
class Waiting implements CancelListener {
  readonly outgoing: OutgoingRequest
  readonly resolve: (answer: Message) => void
  readonly reject: (error: unknown) => void
  /** Its number among the requests. */
  readonly at: number
  /** Whether nothing else was sent since. */
  isAlone = true
  readonly #all: Requests

  constructor(
    outgoing: OutgoingRequest,
    all: Requests,
    resolve: (answer: Message) => void,
    reject: (error: unknown) => void,
  ) {
    this.outgoing = outgoing
    this.#all = all
    this.at = ++all.sent
    this.resolve = resolve
    this.reject = reject
  }

  end(): void {
    this.#all.delete(this.outgoing.id)
    this.outgoing.cancel.onCancel(undefined)
  }

  cancelled(): void {
    this.#all.abandoned = this.#all.sent
    this.#all.onCancelled?.(this.outgoing)
    this.end()
    this.reject(this.outgoing.cancel.reason)
  }
}

function unanswered(method: string, reason: McpError): McpError {
  if (reason.kind === 'closed') return mcpError(CLOSED, {}, { cause: reason })
  const extras = {
    cause: reason,
    data: reason.data,
    hint: reason.hint,
    retryable: reason.retryable,
    // Whatever ended the stream, it is unknown whether the server ran this request.
    refusal: reason.refusal && ('TRANSPORT_ERROR' as const),
  }
  return new McpError(reason.kind, `${method} was not answered: ${reason.message}`, extras)
}
