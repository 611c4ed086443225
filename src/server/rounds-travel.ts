import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { ownerOf, type Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { beginRounds, callOf, partsOf, type Context } from './context.ts'
import type { Rounds } from './rounds.ts'
import type { RoundState } from './state.ts'

/** Decrypts the state that the client returned from an earlier round. */
export async function openRounds(context: Context): Promise<void> {
  const { params } = context
  const { requestState } = params
  const responses = (params['inputResponses'] ?? {}) as Readonly<Record<string, JsonObject>>
  if (typeof responses !== 'object' || Array.isArray(responses))
    throw invalid(context, 'inputResponses is not an object')
  if (requestState !== undefined && typeof requestState !== 'string')
    throw invalid(context, 'requestState is not a string')
  if (requestState === undefined) {
    const { early } = beginRounds(context)
    for (const [key, answer] of Object.entries(responses)) early.set(key, answer)
    return
  }
  const state = await partsOf(context).sealer.open(requestState, () => bindingOf(context))
  const { answers, once } = beginRounds(context)
  for (const [key, answer] of state.answers) answers.set(key, answer)
  for (const [key, value] of state.once) once.set(key, Promise.resolve(value))
  // The handler has acted on the answers in the state: only questions that it left open can be answered.
  for (const key of state.open) if (Object.hasOwn(responses, key)) answers.set(key, responses[key]!)
}

/** The result that asks the client the open questions. */
export async function inputRequired(context: Context, rounds: Rounds): Promise<Result> {
  rounds.ended = true
  const once = rounds.once.size === 0 ? [] : await unlessAborted(callOf(context), finished(rounds))
  const { questions } = rounds
  const answers = [...rounds.answers].filter(([key]) => !questions.has(key))
  const state = { answers, once, open: [...questions.keys()] }
  return {
    resultType: 'input_required',
    inputRequests: Object.fromEntries(questions),
    requestState: await partsOf(context).sealer.seal(state, await bindingOf(context)),
  }
}

/** The values of `ctx.once`. A function that still runs beside a question is awaited, or it would run again in the next round. */
async function finished({ once }: Rounds): Promise<RoundState['once']> {
  const values = await Promise.allSettled([...once].map(async ([key, value]) => toEntry(key, await value)))
  return values.flatMap((value) => (value.status === 'fulfilled' ? [value.value] : []))
}

/** Waits no longer once the request is aborted. */
function unlessAborted<Value>(call: Call, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const { signal } = call
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** JSON has no undefined. */
function toEntry(key: string, value: unknown): RoundState['once'][number] {
  return value === undefined ? [key] : [key, value]
}

function bindingOf(context: Context): Promise<string> {
  const { method, params } = callOf(context)
  return partsOf(context).sealer.bind(ownerOf(context.auth), method, params)
}

function invalid(context: Context, reason: string): Error {
  return mcpError(BAD_PARAMS, { method: context.method, reason })
}
