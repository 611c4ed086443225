import { expect, test } from 'vitest'
import { QuestionRate } from './question-rate.ts'

test('after a minute a server may ask again, and the error says when', () => {
  let now = 5000
  const rate = new QuestionRate(2, () => now)
  const ask = (): void => rate.count('elicitation/create')
  ask()
  now += 20_000
  ask()
  for (let times = 0; times < 3; times++)
    expect(ask).toThrow(expect.objectContaining({ kind: 'asked_too_often', retryAfterMs: 40_000 }))
  rate.count('ping')
  now += 39_999
  expect(ask).toThrow('within a minute')
  now += 1
  ask()
  ask()
  expect(ask).toThrow('within a minute')
})
