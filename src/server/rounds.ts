import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Context } from './context.ts'

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

/** Opens what the client brought back from an earlier round. */
export async function openRounds(context: Context): Promise<void> {
  return (await travel()).openRounds(context)
}

/** Whether a request continues an earlier round. Sessions have no rounds. */
export function isLaterRound({ params, peer }: Call): boolean {
  if (params['requestState'] === undefined && params['inputResponses'] === undefined) return false
  return peer.session === undefined
}

/** The result that asks the client the open questions. */
export async function inputRequired(context: Context, rounds: Rounds): Promise<Result> {
  return (await travel()).inputRequired(context, rounds)
}

/** Loaded with the first request that has rounds. */
const travel = () => import('./rounds-travel.ts')
