import { expect, test } from 'vitest'
import { Unanswered } from './unanswered.ts'

const MINUTE = 60_000
const SECOND = 1000

/** A caller looks at so many questions. */
function lookAtMany(unanswered: Unanswered, caller: string, count: number, now: number): void {
  for (let at = 0; at < count; at++) unanswered.look(caller, `${caller} ${at}`, now, SECOND)
}

test('questions of one caller, however many, push out none of another', () => {
  const unanswered = new Unanswered(1000)
  expect(unanswered.look('ann', 'sure', 0, SECOND)).toBe(0)
  lookAtMany(unanswered, 'bob', 300, 0)
  for (let minute = 1; minute <= 5; minute++) {
    const now = minute * MINUTE
    lookAtMany(unanswered, 'eve', 5000, now)
    expect(unanswered.look('ann', 'sure', now, SECOND)).toBe(now)
    for (let at = 0; at < 300; at++) expect(unanswered.look('bob', `bob ${at}`, now, SECOND)).toBe(now)
  }
  // Those of the one with too many begin again.
  expect(unanswered.look('eve', 'eve 0', 5 * MINUTE, SECOND)).toBe(0)
})

test('of callers with as many questions, the one that looked first loses one', () => {
  const unanswered = new Unanswered(3)
  for (const caller of ['ann', 'bob', 'cy']) unanswered.look(caller, caller, 0, SECOND)
  unanswered.look('ann', 'ann', 1, SECOND)
  unanswered.look('dan', 'dan', 2, SECOND)
  expect(unanswered.look('ann', 'ann', 3, SECOND)).toBe(3)
  expect(unanswered.look('cy', 'cy', 3, SECOND)).toBe(3)
  expect(unanswered.look('dan', 'dan', 3, SECOND)).toBe(1)
  expect(unanswered.look('bob', 'bob', 3, SECOND)).toBe(0)
})

test('a question of one caller is not that of another, and one that is forgotten begins again', () => {
  const unanswered = new Unanswered()
  unanswered.look('ann', 'sure', 0, SECOND)
  expect(unanswered.look('bob', 'sure', 5, SECOND)).toBe(0)
  unanswered.delete('ann', 'sure')
  unanswered.delete('ann', 'sure')
  unanswered.delete('cy', 'sure')
  expect(unanswered.look('ann', 'sure', 9, SECOND)).toBe(0)
  expect(unanswered.look('bob', 'sure', 9, SECOND)).toBe(4)
})
