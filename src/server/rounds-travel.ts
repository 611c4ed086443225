import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isWide, MAX_MEMBERS, type JsonObject } from '../protocol/jsonrpc.ts'
import { ownerOf, type Call } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { beginRounds, callOf, partsOf, type Context } from './context.ts'
import type { Question, Rounds } from './rounds.ts'
import type { RoundState } from './state.ts'

/** Decrypts the state that the client returned from an earlier round. */
export async function openRounds(context: Context): Promise<void> {
  const { params } = context
  const { requestState } = params
  const responses = (params['inputResponses'] ?? {}) as Readonly<Record<string, JsonObject>>
  if (typeof responses !== 'object' || Array.isArray(responses))
    throw invalid(context, 'inputResponses is not an object')
  if (isWide(responses)) throw invalid(context, `inputResponses has more than ${MAX_MEMBERS} members`)
  if (requestState !== undefined && typeof requestState !== 'string')
    throw invalid(context, 'requestState is not a string')
  if (requestState === undefined) {
    const { early } = beginRounds(context)
    for (const key of Object.keys(responses)) early.set(key, responses[key]!)
    return
  }
  const state = await partsOf(context).sealer.open(requestState, () => bindingOf(context))
  const { answers, once, digests } = beginRounds(context)
  for (const [key, digest] of state.asked ?? []) digests.set(key, digest)
  for (const [key, answer] of state.answers) answers.set(key, answer)
  const { task } = callOf(context)
  for (const [key, value] of state.once) {
    once.set(key, Promise.resolve(value))
    task?.keepOnce(key, value)
  }
  // The handler has acted on the answers in the state: only questions that it left open can be answered.
  for (const key of state.open) if (Object.hasOwn(responses, key)) answers.set(key, responses[key]!)
}

/** The result that asks the client the open questions. */
export async function inputRequired(context: Context, rounds: Rounds): Promise<Result> {
  rounds.ended = true
  const once = rounds.once.size === 0 ? [] : await unlessAborted(callOf(context), finished(rounds))
  const { questions } = rounds
  const answers = [...rounds.answers].filter(([key]) => !questions.has(key))
  const open = [...questions.keys()]
  const inputRequests = Object.fromEntries(questions)
  const kept = [...rounds.digests].filter(([key]) => rounds.answers.has(key) && !rounds.first.has(key))
  const first = [...rounds.first].map(
    async ([key, question]) => [key, await digestOf(context, question)] as const,
  )
  const state = { answers, once, open, asked: [...kept, ...(await Promise.all(first))] }
  const requestState = await partsOf(context).sealer.seal(state, await bindingOf(context))
  return { resultType: 'input_required', inputRequests, requestState }
}

/** Whether the client answered another question, which an earlier round asked in the place of this one. */
export async function wasAnother(context: Context, key: string, question: Question): Promise<boolean> {
  const digest = beginRounds(context).digests.get(key)
  return digest !== undefined && digest !== (await digestOf(context, question))
}

function digestOf(context: Context, { method, params }: Question): Promise<string> {
  return partsOf(context).sealer.bind('', method, params)
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
