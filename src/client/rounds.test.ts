import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Answer } from './questions.ts'
import { goOn } from './rounds.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const DONE = { resultType: 'complete', content: [] }
const AGAIN = { resultType: 'input_required', requestState: 's' }
const QUESTION = { method: 'roots/list', params: {} }

interface Going {
  readonly result: Promise<JsonObject>
  /** The params of each further request. */
  readonly sent: JsonObject[]
  error: unknown
}

/** Goes on after a first result, with a server that gives these results then, the last one again and again. */
function go(first: JsonObject, then: readonly JsonObject[], options: object = {}, answer?: Answer): Going {
  const sent: JsonObject[] = []
  const request = (_: string, params: JsonObject): Promise<JsonObject> => {
    sent.push(params)
    return Promise.resolve(then[sent.length - 1] ?? (then.at(-1) as JsonObject))
  }
  const asked = {
    method: 'tools/call',
    params: { name: 'a' },
    options: options as RequestOptions,
    result: first,
  }
  const result = goOn({ request } as never, asked, answer ?? (() => Promise.resolve({ roots: [] })))
  const going: Going = { result, sent, error: undefined }
  result.catch((error: unknown) => void (going.error = error))
  return going
}

function questions(count: number): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`q${at}`, QUESTION]))
}

test('a server that only wants to be asked again is given a moment', async () => {
  const { result, sent } = go(AGAIN, [DONE])
  await vi.advanceTimersByTimeAsync(249)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(sent).toEqual([{ name: 'a', requestState: 's' }])
  expect(await result).toBe(DONE)
})

test('a caller who stops waiting ends that moment at once', async () => {
  const controller = new AbortController()
  const going = go(AGAIN, [DONE], { signal: controller.signal })
  await vi.advanceTimersByTimeAsync(1)
  controller.abort(new Error('enough'))
  await vi.advanceTimersByTimeAsync(0)
  expect(going.error).toMatchObject({ kind: 'cancelled', cause: { message: 'enough' } })
  expect([going.sent, vi.getTimerCount()]).toEqual([[], 0])
})

test('a caller who stopped waiting before is asked nothing', async () => {
  const answer = vi.fn<Answer>()
  const inputRequests = { q: QUESTION }
  const going = go({ ...AGAIN, inputRequests }, [DONE], { signal: AbortSignal.abort() }, answer)
  await vi.advanceTimersByTimeAsync(0)
  expect(going.error).toMatchObject({ kind: 'cancelled' })
  expect(answer).not.toHaveBeenCalled()
})

test('questions are answered at once, each under its own name', async () => {
  const answer: Answer = (method, params) => Promise.resolve({ method, ...params })
  const inputRequests = { a: { method: 'roots/list', params: { b: 1 } }, c: { method: 'roots/list' } }
  const onRound = vi.fn<() => void>()
  const { result, sent } = go({ resultType: 'input_required', inputRequests }, [DONE], { onRound }, answer)
  expect(await result).toBe(DONE)
  const inputResponses = { a: { method: 'roots/list', b: 1 }, c: { method: 'roots/list' } }
  expect(sent).toEqual([{ name: 'a', inputResponses }])
  expect(onRound).toHaveBeenCalledTimes(1)
})

test('a server is asked ten times in all, and then it has no answer', async () => {
  const patient = go(AGAIN, [...Array<JsonObject>(8).fill(AGAIN), DONE])
  const endless = go(AGAIN, [AGAIN])
  await vi.advanceTimersByTimeAsync(9 * 250)
  expect(await patient.result).toBe(DONE)
  expect([patient.sent.length, endless.sent.length]).toEqual([9, 9])
  expect(endless.error).toMatchObject({ kind: 'bad_answer', message: expect.stringContaining('10 rounds') })
})

test('a server may ask a hundred questions at once, and no more', async () => {
  const most = go({ ...AGAIN, inputRequests: questions(100) }, [DONE])
  expect(await most.result).toBe(DONE)
  expect(Object.keys(most.sent[0]?.['inputResponses'] as object)).toHaveLength(100)
  const { result } = go({ ...AGAIN, inputRequests: questions(101) }, [DONE])
  await expect(result).rejects.toMatchObject({ kind: 'bad_answer' })
})

test.each([
  ['nothing', {}],
  ['with a list', { inputRequests: [QUESTION] }],
  ['with null', { inputRequests: null }],
  ['with a state that is no text', { requestState: 5 }],
  ['what cannot be asked', { inputRequests: { q: { method: 'tools/call' } } }],
  ['without a method', { inputRequests: { q: {} } }],
  ['with null for a question', { inputRequests: { q: null } }],
])('a server that asks %s has given no answer', async (_, asked) => {
  const { result, sent } = go({ resultType: 'input_required', ...asked }, [DONE])
  await expect(result).rejects.toMatchObject({ kind: 'bad_answer' })
  expect(sent).toEqual([])
})
