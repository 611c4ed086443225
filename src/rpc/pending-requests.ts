import { LONGEST_MS } from '../base/duration.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import { ASK_REFUSED, CANNOT_ASK } from '../errors/server.ts'
import type { ErrorObject, JsonObject, RequestId } from '../protocol/jsonrpc.ts'

interface Waiting {
  readonly method: string
  resolve(result: JsonObject): void
  reject(error: unknown): void
}

/** Our clients ignore further questions while this many are open. */
const MAX_WAITING = 1024

/** Requests sent to the peer that await a response, by id. */
export class PendingRequests {
  #next = 1
  /** The error for questions that cannot be answered any more. */
  #closed: ((method: string) => McpError) | undefined
  readonly #waiting = new Map<RequestId, Waiting>()
  readonly #numbers: { nextQuestion(): number } | undefined

  /** `numbers` gives ids where other nodes ask the same client. */
  constructor(numbers?: { nextQuestion(): number }) {
    this.#numbers = numbers
  }

  get size(): number {
    return this.#waiting.size
  }

  has(id: RequestId | undefined): boolean {
    return id !== undefined && this.#waiting.has(id)
  }

  /** Sends a request under a fresh id. Cancels it, and notifies the peer, when the signal aborts or it times out. */
  ask(
    method: string,
    send: (id: number) => void,
    options: {
      readonly signal: AbortSignal
      readonly timeoutMs: number
      readonly cancel: (id: number) => void
    },
  ): Promise<JsonObject> {
    const id = this.#numbers?.nextQuestion() ?? this.#next++
    const { signal, timeoutMs, cancel } = options
    return new Promise<JsonObject>((resolve, reject) => {
      if (this.#closed !== undefined) throw this.#closed(method)
      if (this.#waiting.size >= MAX_WAITING) {
        const reason = `it has left ${MAX_WAITING} questions unanswered`
        throw mcpError(CANNOT_ASK, { capability: method, reason })
      }
      signal.throwIfAborted()
      const abandon = (reason: Error): void => {
        done()
        reject(reason)
        cancel(id)
      }
      const onAbort = (): void => abandon(signal.reason as Error)
      const onTimeout = (): void => {
        // Some runtimes do not let the request with the answer stop this timer.
        if (this.#waiting.has(id))
          abandon(mcpError(ASK_REFUSED, { method, reason: `no answer within ${timeoutMs} ms` }))
      }
      const timer = timeoutMs > LONGEST_MS ? undefined : setTimeout(onTimeout, timeoutMs)
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(id)
      }
      this.#waiting.set(id, {
        method,
        resolve: (result) => (done(), resolve(result)),
        reject: (error) => (done(), reject(error as Error)),
      })
      signal.addEventListener('abort', onAbort, { once: true })
      try {
        send(id)
      } catch (error) {
        // Nothing was sent, so there is nothing to cancel.
        done()
        throw error
      }
    })
  }

  /** Settles the request that a response belongs to; false if there is none. */
  settle(answer: {
    readonly id?: RequestId
    readonly result?: JsonObject
    readonly error?: ErrorObject
  }): boolean {
    const waiting = answer.id === undefined ? undefined : this.#waiting.get(answer.id)
    if (waiting === undefined) return false
    if (answer.error === undefined) waiting.resolve(answer.result ?? {})
    else {
      const { message, code, data } = answer.error
      waiting.reject(
        mcpError(ASK_REFUSED, { method: waiting.method, reason: message }, { data: { code, data } }),
      )
    }
    return true
  }

  close(toError = (method: string): McpError => mcpError(CONNECTION_CLOSED, { method })): void {
    this.#closed = toError
    for (const { method, reject } of this.#waiting.values()) reject(toError(method))
  }

  /** The peer sends nothing more, but may still read: requests that wait for it fail, and not by mistake. */
  end(): void {
    const reason = 'it has ended its side of the connection'
    this.close((method) => mcpError(ASK_REFUSED, { method, reason }))
  }
}
