import { mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import type { RequestOptions } from './link-options.ts'
import type { Link } from './link.ts'

const MAX_ROUNDS = 10
const MAX_QUESTIONS = 100
/** A server that asks nothing and only wants to be asked again is given a moment. */
const PAUSE_MS = 250

/** Sends a request through all its rounds: answers what the server asks, and brings back the state it gave. */
export async function requestInRounds(
  link: Link,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<{ readonly result: JsonObject; readonly rounds: number }> {
  let asked = params
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    const result = await link.request(
      method,
      asked,
      rounds === 1 ? options : { ...options, repeatable: false },
    )
    if (result['resultType'] !== 'input_required') return { result, rounds }
    const { inputRequests, requestState } = result
    const row = methodRow(method)
    if (row !== undefined && row.rounds !== true) throw invalid(method, 'it asks for input')
    if (inputRequests !== undefined && !isBounded(inputRequests))
      throw invalid(method, `inputRequests are not an object of at most ${MAX_QUESTIONS} questions`)
    if (requestState !== undefined && typeof requestState !== 'string')
      throw invalid(method, 'requestState is not a string')
    if (inputRequests === undefined && requestState === undefined)
      throw invalid(method, 'it asks for nothing')
    const signal = options.signal ?? new AbortController().signal
    if (inputRequests === undefined) await pause(PAUSE_MS, signal)
    asked = {
      ...params,
      ...(inputRequests === undefined
        ? {}
        : { inputResponses: await link.answersTo(inputRequests as JsonObject, signal) }),
      ...(requestState === undefined ? {} : { requestState }),
    }
  }
  throw invalid(method, `it still asks after ${MAX_ROUNDS} rounds`)
}

function isBounded(questions: unknown): boolean {
  if (typeof questions !== 'object' || questions === null || Array.isArray(questions)) return false
  return Object.keys(questions).length <= MAX_QUESTIONS
}

function invalid(method: string, issue: string): Error {
  return mcpError('bad_answer', { method, issue })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(mcpError('cancelled', { reason: '' }, { cause: signal.reason }))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
