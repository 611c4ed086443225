import { expect, test } from 'vitest'
import { QuestionRoom } from './question-room.ts'
import { Questions } from './questions.ts'

const MIB = 1_048_576

test('replies that the server does not take are kept up to a size', async () => {
  const questions = new Questions(() => Promise.resolve({}), { idLength: 100 }, new QuestionRoom())
  const taken: (() => void)[] = []
  const transport = { send: (): Promise<void> => new Promise((resolve) => taken.push(resolve)) }
  const text = 'x'.repeat(MIB)
  const sent = Array.from({ length: 200 }, () => questions.send(text, transport))
  let count = 0
  for (let take = taken.shift(); take !== undefined; take = taken.shift()) {
    count++
    take()
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
  }
  await Promise.all(sent)
  expect(count).toBe(16 + 64)
  // What has been sent leaves room for others.
  const again = Array.from({ length: 20 }, () => questions.send(text, transport))
  for (let take = taken.shift(); take !== undefined; take = taken.shift()) {
    take()
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
  }
  await Promise.all(again)
})

test('questions take memory up to a limit, but one of any size is answered', () => {
  const questions = new QuestionRoom()
  const huge = questions.begin({ message: 'x'.repeat(100 * MIB) })
  expect(huge).toBeGreaterThan(0)
  expect(questions.begin({})).toBe(0)
  questions.end(huge)
  const large = { message: 'x'.repeat(32 * MIB) }
  const bytes = questions.begin(large)
  expect([bytes > 32 * MIB, questions.begin(large)]).toEqual([true, 0])
  questions.end(bytes)
  expect(questions.begin(large)).toBe(bytes)
})

test('a question whose id the server uses again ends, and so do both when the connection closes', async () => {
  const signals: AbortSignal[] = []
  const answer = (_method: string, _params: object, signal: AbortSignal): Promise<never> => {
    signals.push(signal)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  }
  const questions = new Questions(answer, { idLength: 100 }, new QuestionRoom())
  const forms = { result: (_: string, result: object) => result } as unknown as Parameters<
    Questions['reply']
  >[1]
  const ask = (): Promise<string | undefined> =>
    questions.reply({ id: 1, method: 'elicitation/create', params: {} }, forms)
  const first = ask()
  const second = ask()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  expect(await first).toBeUndefined()
  questions.cancelAll()
  expect(await second).toBeUndefined()
})
