import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'

/** A question inside an `input_required` result. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
}

/** The state of a request with several rounds: earlier answers, values of `ctx.once`, and the open questions. */
export interface Rounds {
  readonly answers: Map<string, JsonObject>
  readonly once: Map<string, unknown>
  readonly questions: Map<string, Question>
  /** Numbers the questions without a key, in the order in which the handler asks them. */
  asked: number
}

/** Whether a request continues an earlier round. Sessions have no rounds. */
export function isLaterRound({ params, peer }: Call): boolean {
  if (params['requestState'] === undefined && params['inputResponses'] === undefined) return false
  return peer.session === undefined
}
