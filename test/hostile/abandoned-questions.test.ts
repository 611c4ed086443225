import { expect, test } from 'vitest'
import { failure, meet, quiet, type Attack } from './peer.ts'

const FORM = { type: 'object', properties: { name: { type: 'string' } } }
const QUESTION = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: FORM } }
const ROOTS = { method: 'roots/list' }

/** A server that answers each call with these questions. */
function asking(inputRequests: object): Attack {
  return ({ method }, wire) =>
    method === 'tools/call' && wire.reply({ resultType: 'input_required', inputRequests })
}

/** An `elicit` that never answers, and the signals that it got. */
function waiting(): {
  readonly signals: AbortSignal[]
  elicit(question: object, signal: AbortSignal): Promise<never>
} {
  const signals: AbortSignal[] = []
  return {
    signals,
    elicit: (_, signal) => {
      signals.push(signal)
      return new Promise<never>(() => undefined)
    },
  }
}

test.each([
  ['a method that is not allowed', { method: 'x' }],
  ['params that are not an object', { method: 'elicitation/create', params: 'x' }],
])('no question is asked if another one of the same reply has %s', async (_, bad) => {
  const { elicit, signals } = waiting()
  const questions = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`q${at}`, QUESTION]))
  const { client } = await meet('memory', asking({ ...questions, bad }), { answers: { elicit } })
  expect(await failure(client.call('t'))).toMatchObject({ kind: 'bad_answer' })
  // The questions would be asked once the code for them is loaded.
  await quiet(100)
  expect(signals).toEqual([])
})

test('a question is aborted when the answer to another one fails', async () => {
  const { elicit, signals } = waiting()
  const roots = async (): Promise<never> => {
    while (signals.length === 0) await Promise.resolve()
    throw new Error('no roots')
  }
  const { client } = await meet('memory', asking({ a: QUESTION, b: ROOTS }), { answers: { elicit, roots } })
  await failure(client.call('t'))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('each question has a signal of its own, which aborts with the call', async () => {
  const { elicit, signals } = waiting()
  const questions = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`q${at}`, QUESTION]))
  const { client } = await meet('memory', asking(questions), { answers: { elicit } })
  const stop = new AbortController()
  const call = failure(client.call('t', {}, { signal: stop.signal }))
  while (signals.length < 20) await new Promise((resolve) => setImmediate(resolve))
  expect(new Set(signals).size).toBe(20)
  stop.abort()
  await call
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
})
