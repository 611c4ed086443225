import { McpError, mcpError, toErrorObject } from '../protocol/errors.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import { sealError, sealReply } from '../wire/seal.ts'
import { answerQuestion, type Answers } from './answers.ts'

/** The questions of a server that are being answered. */
export class Questions {
  readonly #open = new Map<unknown, AbortController>()

  /** The reply to a question; undefined when nobody wants it any more. */
  async reply(
    question: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
    answers: Answers,
    revision: Revision,
  ): Promise<string | undefined> {
    const { id, method, params } = question
    const stop = new AbortController()
    this.#open.set(id, stop)
    try {
      const result = await answerQuestion(answers, method, params, stop.signal)
      return stop.signal.aborted ? undefined : sealReply(id, JSON.stringify(result))
    } catch (error) {
      if (stop.signal.aborted) return undefined
      const known =
        error instanceof McpError ? error : mcpError('internal', { reference: crypto.randomUUID() })
      return sealError(id, toErrorObject(known, revision))
    } finally {
      if (this.#open.get(id) === stop) this.#open.delete(id)
    }
  }

  /** The server no longer wants an answer. */
  cancel(id: unknown): void {
    this.#open.get(id)?.abort(mcpError('cancelled', { reason: ' by the server' }))
  }

  /** No answer can be given any more. */
  drop(): void {
    for (const stop of this.#open.values())
      stop.abort(mcpError('connection_closed', { method: 'a question' }))
    this.#open.clear()
  }
}
