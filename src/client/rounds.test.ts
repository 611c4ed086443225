import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { Deadline, type DeadlineOptions } from '../rpc/deadline.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Answer } from './questions.ts'
import { finishRounds } from './rounds.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DONE = { resultType: 'complete', content: [] }
const AGAIN = { resultType: 'input_required', requestState: 's' }
const QUESTION = { method: 'roots/list', params: {} }

interface Call {
  readonly result: Promise<JsonObject>
  /** The params of each further request. */
  readonly sent: JsonObject[]
  error: unknown
}

/** Continues after the first result. The server then returns these results, and repeats the last one. */
function start(first: JsonObject, then: readonly JsonObject[], options: object = {}, answer?: Answer): Call {
  const sent: JsonObject[] = []
  const request = (_: string, params: JsonObject): Promise<JsonObject> => {
    sent.push(params)
    return Promise.resolve(then[sent.length - 1] ?? (then.at(-1) as JsonObject))
  }
  const unfinished = {
    method: 'tools/call',
    params: { name: 'a' },
    options: options as RequestOptions,
    result: first,
  }
  const deadline = (method: string, limits: RequestOptions): Deadline =>
    new Deadline({
      method,
      idleMs: Infinity,
      totalMs: limits.totalMs ?? 300_000,
      ...limits,
    } as DeadlineOptions)
  const result = finishRounds(
    { request, deadline, closing: new AbortController().signal } as never,
    unfinished,
    answer ?? (() => Promise.resolve({ roots: [] })),
  )
  const call: Call = { result, sent, error: undefined }
  result.catch((error: unknown) => void (call.error = error))
  return call
}

function questions(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, QUESTION]))
}

test('the client pauses before the next round if the server asks no questions', async () => {
  const { result, sent } = start(AGAIN, [DONE])
  await vi.advanceTimersByTimeAsync(249)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(sent).toEqual([{ name: 'a', requestState: 's' }])
  expect(await result).toBe(DONE)
})

test('an abort ends the pause at once', async () => {
  const controller = new AbortController()
  const call = start(AGAIN, [DONE], { signal: controller.signal })
  await vi.advanceTimersByTimeAsync(1)
  controller.abort(new Error('enough'))
  await vi.advanceTimersByTimeAsync(0)
  expect(call.error).toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
  expect([call.sent, vi.getTimerCount()]).toEqual([[], 0])
})

test('no question is answered after an abort', async () => {
  const answer = vi.fn<Answer>()
  const inputRequests = { q: QUESTION }
  const call = start({ ...AGAIN, inputRequests }, [DONE], { signal: AbortSignal.abort() }, answer)
  await vi.advanceTimersByTimeAsync(0)
  expect(call.error).toMatchObject({ kind: 'cancelled' })
  expect(answer).not.toHaveBeenCalled()
})

test('questions are answered without a pause, each under its own key', async () => {
  const answer: Answer = (method, params) => Promise.resolve({ method, ...params })
  const inputRequests = { a: { method: 'roots/list', params: { b: 1 } }, c: { method: 'roots/list' } }
  const onRound = vi.fn<() => void>()
  const { result, sent } = start({ resultType: 'input_required', inputRequests }, [DONE], { onRound }, answer)
  expect(await result).toBe(DONE)
  const inputResponses = { a: { method: 'roots/list', b: 1 }, c: { method: 'roots/list' } }
  expect(sent).toEqual([{ name: 'a', inputResponses }])
  expect(onRound).toHaveBeenCalledTimes(1)
})

test('a request fails after ten rounds', async () => {
  const patient = start(AGAIN, [...Array<JsonObject>(8).fill(AGAIN), DONE])
  const endless = start(AGAIN, [AGAIN])
  await vi.advanceTimersByTimeAsync(9 * 250)
  expect(await patient.result).toBe(DONE)
  expect([patient.sent.length, endless.sent.length]).toEqual([9, 9])
  expect(endless.error).toMatchObject({ kind: 'bad_answer', message: expect.stringContaining('10 rounds') })
})

test('a server may ask at most a hundred questions at once', async () => {
  const most = start({ ...AGAIN, inputRequests: questions(100) }, [DONE])
  expect(await most.result).toBe(DONE)
  expect(Object.keys(most.sent[0]?.['inputResponses'] as object)).toHaveLength(100)
  const { result } = start({ ...AGAIN, inputRequests: questions(101) }, [DONE])
  await expect(result).rejects.toMatchObject({ kind: 'bad_answer' })
})

test.each([
  ['neither questions nor state', {}],
  ['a list of questions', { inputRequests: [QUESTION] }],
  ['null for the questions', { inputRequests: null }],
  ['a state that is not a string', { requestState: 5 }],
  ['a method that is not a question', { inputRequests: { q: { method: 'tools/call' } } }],
  ['a question without a method', { inputRequests: { q: {} } }],
  ['null for a question', { inputRequests: { q: null } }],
])('a result with %s is invalid', async (_, members) => {
  const { result, sent } = start({ resultType: 'input_required', ...members }, [DONE])
  await expect(result).rejects.toMatchObject({ kind: 'bad_answer' })
  expect(sent).toEqual([])
})
