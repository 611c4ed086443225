import { lazy } from '../base/lazy.ts'
import { mcpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Forms } from './forms.ts'

/** Answers a question of the server. Throws the error to send back. */
export type Answer = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** The client ignores further questions while this many are open. */
const MAX_QUESTIONS = 1024
/** The number of replies on their way at once: over HTTP, each takes a connection. */
const MAX_SENDING = 16

const replies = lazy(() => import('./question-reply.ts'))

/** The open questions of a server. */
export class Questions {
  readonly #open = new Map<unknown, AbortController>()
  readonly #answer: Answer
  #count = 0
  #sending = 0
  readonly #unsent: (() => void)[] = []

  constructor(answer: Answer) {
    this.#answer = answer
  }

  /** Reserves a slot for a question until `end`. Returns false if all are taken. */
  begin(): boolean {
    if (this.#count >= MAX_QUESTIONS) return false
    this.#count++
    return true
  }

  end(): void {
    this.#count--
  }

  /** Returns the reply to a question; undefined if it was cancelled. */
  async reply(
    question: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
    forms: Forms,
  ): Promise<string | undefined> {
    const { id, method, params } = question
    const controller = new AbortController()
    this.#open.set(id, controller)
    try {
      const result = await this.#answer(method, params, controller.signal)
      const { encodeAnswer } = await replies()
      return controller.signal.aborted ? undefined : encodeAnswer(id, forms.result(method, result))
    } catch (error) {
      const { encodeFailure } = await replies()
      return controller.signal.aborted ? undefined : encodeFailure(id, error)
    } finally {
      if (this.#open.get(id) === controller) this.#open.delete(id)
    }
  }

  /** Sends a reply, when fewer are on their way. */
  async send(reply: () => Promise<void>): Promise<void> {
    if (this.#sending === MAX_SENDING) await new Promise<void>((resolve) => this.#unsent.push(resolve))
    else this.#sending++
    await reply().finally(() => {
      const next = this.#unsent.shift()
      if (next === undefined) this.#sending--
      else next()
    })
  }

  /** Cancels a question at the server's request. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort(mcpError(CANCELLED, { reason: ' by the server' }))
  }

  /** Cancels all questions, because the connection has closed. */
  cancelAll(): void {
    for (const controller of this.#open.values())
      controller.abort(mcpError(CONNECTION_CLOSED, { method: 'a question' }))
    this.#open.clear()
  }
}
