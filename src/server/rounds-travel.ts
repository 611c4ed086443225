import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { ownerOf } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { beginRounds, callOf, partsOf, type Context } from './context.ts'
import type { Rounds } from './rounds.ts'

/** Decrypts the state that the client returned from an earlier round. */
export async function openRounds(context: Context): Promise<void> {
  const { params } = context
  const { requestState } = params
  const responses = params['inputResponses'] ?? {}
  if (typeof responses !== 'object' || Array.isArray(responses))
    throw invalid(context, 'inputResponses is not an object')
  if (requestState !== undefined && typeof requestState !== 'string')
    throw invalid(context, 'requestState is not a string')
  const state =
    requestState === undefined
      ? { answers: {}, once: {} }
      : await partsOf(context).sealer.open(requestState, await bindingOf(context))
  const rounds = beginRounds(context)
  for (const [key, answer] of Object.entries(state.answers)) rounds.answers.set(key, answer)
  for (const [key, answer] of Object.entries(responses as Record<string, JsonObject>))
    rounds.answers.set(key, answer)
  for (const [key, value] of Object.entries(state.once)) rounds.once.set(key, value)
}

/** The result that asks the client the open questions. */
export async function inputRequired(context: Context, rounds: Rounds): Promise<Result> {
  const { answers, once, questions } = rounds
  const kept = [...answers].filter(([key]) => !questions.has(key))
  const state = { answers: Object.fromEntries(kept), once: Object.fromEntries(once) }
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(questions),
    requestState: await partsOf(context).sealer.seal(state, await bindingOf(context)),
  }
}

function bindingOf(context: Context): Promise<string> {
  const { method, params } = callOf(context)
  return partsOf(context).sealer.bind(ownerOf(context.auth), method, params)
}

function invalid(context: Context, reason: string): Error {
  return mcpError(BAD_PARAMS, { method: context.method, reason })
}
