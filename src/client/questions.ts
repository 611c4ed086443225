import { McpError, mcpError } from '../errors/error.ts'
import { CANCELLED, CONNECTION_CLOSED } from '../errors/rpc.ts'
import { INTERNAL } from '../errors/wire.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import { replyText, encodeError, encodeReply } from '../wire/reply.ts'
import type { Forms } from './forms.ts'

/** Answers one question of a server; throws the error that goes back. */
export type Answer = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

/** More questions at once than this are a flood, and not answered. */
const MAX_QUESTIONS = 1024

/** The questions of a server that are being answered. */
export class Questions {
  readonly #open = new Map<unknown, AbortController>()
  readonly #answer: Answer
  #count = 0

  constructor(answer: Answer) {
    this.#answer = answer
  }

  /** Makes room for one more question, until its reply is sent; false when there is none. */
  begin(): boolean {
    if (this.#count >= MAX_QUESTIONS) return false
    this.#count++
    return true
  }

  end(): void {
    this.#count--
  }

  /** The reply to a question; undefined when nobody wants it any more. */
  async reply(
    question: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
    forms: Forms,
  ): Promise<string | undefined> {
    const { id, method, params } = question
    const stop = new AbortController()
    this.#open.set(id, stop)
    try {
      const result = await this.#answer(method, params, stop.signal)
      return stop.signal.aborted
        ? undefined
        : replyText(encodeReply(id, JSON.stringify(forms.result(method, result))))
    } catch (error) {
      if (stop.signal.aborted) return undefined
      const { code, message, data } =
        error instanceof McpError ? error : mcpError(INTERNAL, { reference: `question ${id}` })
      return encodeError(id, { code, message, data })
    } finally {
      if (this.#open.get(id) === stop) this.#open.delete(id)
    }
  }

  /** The server no longer wants an answer. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort(mcpError(CANCELLED, { reason: ' by the server' }))
  }

  /** No answer can be given any more. */
  drop(): void {
    for (const stop of this.#open.values()) stop.abort(mcpError(CONNECTION_CLOSED, { method: 'a question' }))
    this.#open.clear()
  }
}
