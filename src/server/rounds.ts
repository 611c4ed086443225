import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'

/** A question that travels inside an `input_required` result. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
}

/** What one request with several rounds knows: what was answered, what must not repeat, and what it asks now. */
export interface Rounds {
  readonly answers: Map<string, JsonObject>
  readonly once: Map<string, unknown>
  readonly questions: Map<string, Question>
  /** Numbers the questions that were given no key, in the order in which the handler asks them. */
  asked: number
}

/** Whether a request brings something from an earlier round. Where there are sessions there are no rounds. */
export function isLaterRound({ params, peer }: Call): boolean {
  if (params['requestState'] === undefined && params['inputResponses'] === undefined) return false
  return peer.session === undefined
}
