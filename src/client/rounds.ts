import { pause } from '../base/backoff.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { CANCELLED } from '../errors/rpc.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import type { RequestOptions } from './connection-options.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import type { Answer } from './questions.ts'

const MAX_ROUNDS = 10
const MAX_QUESTIONS = 100
/** A server that asks nothing and only wants to be asked again is given a moment. */
const PAUSE_MS = 250

/** A request whose result asks for input. */
export interface Asked {
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestOptions
  readonly result: JsonObject
}

/** Takes a request through all further rounds: answers what the server asks, and brings back the state it gave. */
export async function goOn(link: ReconnectingConnection, asked: Asked, answer: Answer): Promise<JsonObject> {
  const { method, params } = asked
  const options = { ...asked.options, repeatable: false }
  let { result } = asked
  for (let rounds = 1; rounds < MAX_ROUNDS; rounds++) {
    const told = { ...params, ...(await respond({ ...asked, result }, answer)) }
    result = await link.request(method, told, options)
    if (result['resultType'] !== 'input_required') return result
  }
  throw invalid(method, `it still asks after ${MAX_ROUNDS} rounds`)
}

/** What the next round says: the answers to the questions, and the state. */
async function respond({ method, options, result }: Asked, answer: Answer): Promise<JsonObject> {
  const { inputRequests, requestState } = result
  const row = methodRow(method)
  if (row !== undefined && row.rounds !== true) throw invalid(method, 'it asks for input')
  if (inputRequests !== undefined && !isBounded(inputRequests))
    throw invalid(method, `inputRequests are not an object of at most ${MAX_QUESTIONS} questions`)
  if (requestState !== undefined && typeof requestState !== 'string')
    throw invalid(method, 'requestState is not a string')
  if (inputRequests === undefined && requestState === undefined) throw invalid(method, 'it asks for nothing')
  const signal = options.signal ?? new AbortController().signal
  if (inputRequests === undefined) await pause(PAUSE_MS, signal)
  if (signal.aborted) throw mcpError(CANCELLED, { reason: '' }, { cause: signal.reason })
  options.onRound?.()
  return {
    ...(inputRequests === undefined
      ? {}
      : { inputResponses: await answersTo(inputRequests as JsonObject, answer, signal) }),
    ...(requestState === undefined ? {} : { requestState }),
  }
}

async function answersTo(questions: JsonObject, answer: Answer, signal: AbortSignal): Promise<JsonObject> {
  const answered = Object.entries(questions).map(async ([key, question]): Promise<[string, JsonObject]> => {
    const { method, params } = (question ?? {}) as { method?: unknown; params?: JsonObject }
    if (methodRow(untrustedText(method))?.embedded !== true)
      throw invalid('the request', `"${untrustedText(method).slice(0, 64)}" cannot be asked`)
    return [key, await answer(untrustedText(method), params ?? {}, signal)]
  })
  return Object.fromEntries(await Promise.all(answered))
}

function isBounded(questions: unknown): boolean {
  if (typeof questions !== 'object' || questions === null || Array.isArray(questions)) return false
  return Object.keys(questions).length <= MAX_QUESTIONS
}

function invalid(method: string, issue: string): Error {
  return mcpError(BAD_ANSWER, { method, issue })
}
