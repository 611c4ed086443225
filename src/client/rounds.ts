import { onAbort } from '../base/on-abort.ts'
import { orAborted, pause } from '../base/backoff.ts'
import { mcpError } from '../errors/error.ts'
import { markReceived } from '../errors/where.ts'
import { BAD_ANSWER } from '../errors/client.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import type { RequestOptions } from './connection-options.ts'
import type { ReconnectingConnection } from './reconnecting-connection.ts'
import type { Answer } from './questions.ts'

const MAX_ROUNDS = 10
const MAX_QUESTIONS = 100
/** The pause before the next round if the server asks no questions. */
const PAUSE_MS = 250

/** A request whose result asks for input. */
export interface UnfinishedRequest {
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestOptions
  readonly result: JsonObject
}

/**
 * Repeats a request, each time with answers to the server's questions and its state, until it has a result. The total
 * timeout covers all rounds, and the answers.
 */
export async function finishRounds(
  connection: ReconnectingConnection,
  request: UnfinishedRequest,
  answer: Answer,
): Promise<JsonObject> {
  const { method, params } = request
  const deadline = connection.deadline(method, { ...request.options, idleMs: Infinity })
  const options = { ...request.options, repeatable: false }
  const { signal } = deadline
  const { closing } = connection
  const remove = onAbort(closing, () => deadline.abort(closing.reason as Error))
  let { result } = request
  try {
    for (let rounds = 1; rounds < MAX_ROUNDS; rounds++) {
      const responses = await orAborted(respond({ ...request, result }, answer, signal), signal)
      result = await connection.request(method, { ...params, ...responses }, options)
      if (result['resultType'] !== 'input_required') return result
    }
  } catch (error) {
    deadline.abort(error as Error)
    // That a question could not be answered is no answer to the caller of a handler that used this client.
    throw markReceived(error)
  } finally {
    remove()
    deadline.end()
  }
  throw invalid(method, `it still asks for input after ${MAX_ROUNDS} rounds`)
}

/** The members to add to the next request: the answers and the state. */
async function respond(
  { method, options, result }: UnfinishedRequest,
  answer: Answer,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { inputRequests, requestState } = result
  const row = methodRow(method)
  if (row !== undefined && row.rounds !== true) throw invalid(method, 'this method cannot ask for input')
  if (inputRequests !== undefined && !isBounded(inputRequests))
    throw invalid(method, `inputRequests are not an object of at most ${MAX_QUESTIONS} questions`)
  if (requestState !== undefined && typeof requestState !== 'string')
    throw invalid(method, 'requestState is not a string')
  if (inputRequests === undefined && requestState === undefined)
    throw invalid(method, 'it asks for input without inputRequests or requestState')
  if (inputRequests === undefined) await pause(PAUSE_MS, signal)
  signal.throwIfAborted()
  options.onRound?.()
  return {
    ...(inputRequests === undefined
      ? {}
      : { inputResponses: await answersTo(inputRequests as JsonObject, answer, signal) }),
    ...(requestState === undefined ? {} : { requestState }),
  }
}

/** Answers questions, by key. If one cannot be answered, the others are aborted; if one is not valid, none is asked. */
export async function answersTo(
  questions: JsonObject,
  answer: Answer,
  signal: AbortSignal,
): Promise<JsonObject> {
  const asked = Object.entries(questions).map(([key, question]) => [key, readQuestion(question)] as const)
  // Each has a signal of its own, because runtimes take many listeners of one signal for a leak.
  const controllers = asked.map(() => new AbortController())
  const abort = (reason: unknown): void => controllers.forEach((controller) => controller.abort(reason))
  const remove = onAbort(signal, () => abort(signal.reason))
  try {
    const answered = asked.map(async ([key, { method, params }], at): Promise<[string, JsonObject]> => [
      key,
      await answer(method, params, controllers[at]!.signal),
    ])
    return Object.fromEntries(await Promise.all(answered))
  } catch (error) {
    abort(error)
    throw error
  } finally {
    remove()
  }
}

function readQuestion(question: unknown): { readonly method: string; readonly params: JsonObject } {
  const { method: given, params = {} } = isObject(question) ? question : {}
  const method = untrustedText(given)
  if (methodRow(method)?.embedded !== true)
    throw invalid('the request', `the method "${method.slice(0, 64)}" is not allowed in inputRequests`)
  if (!isObject(params ?? {})) throw invalid('the request', 'the params of a question are not an object')
  return { method, params: (params ?? {}) as JsonObject }
}

function isBounded(questions: unknown): boolean {
  return isObject(questions) && Object.keys(questions).length <= MAX_QUESTIONS
}

function invalid(method: string, issue: string): Error {
  return mcpError(BAD_ANSWER, { method, issue })
}
