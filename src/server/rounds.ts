import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'

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

/** Opens what the client brought back from an earlier round. */
export async function openRounds(context: Context): Promise<void> {
  return (await travel()).openRounds(context)
}

/** Whether a request brings something from an earlier round. Where there are sessions there are no rounds. */
export function isLaterRound({ params, peer }: Call): boolean {
  if (params['requestState'] === undefined && params['inputResponses'] === undefined) return false
  return peer.session === undefined
}

/** The result that puts the open questions to the client. */
export async function inputRequired(context: Context, rounds: Rounds): Promise<Result> {
  return (await travel()).inputRequired(context, rounds)
}

/** How rounds travel through the client; loaded with the first that do. */
const travel = () => import('./rounds-travel.ts')
