import { expect, test, vi } from 'vitest'
import { Deferred } from '../../../base/deferred.ts'
import { mcpError } from '../../../errors/error.ts'
import { TOO_MUCH_HELD } from '../../../errors/server.ts'
import type { StoredSession } from '../../../rpc/session-store.ts'
import { SessionUses } from './session-uses.ts'

type Answer = StoredSession | undefined

interface Asked {
  readonly uses: SessionUses
  /** The questions to the store, with the ids that they are about. */
  readonly questions: (readonly [id: string, answer: Deferred<Answer>])[]
}

function ask(): Asked {
  const questions: (readonly [string, Deferred<Answer>])[] = []
  const uses = new SessionUses((id) => {
    const answer = new Deferred<Answer>()
    questions.push([id, answer])
    return answer.promise
  })
  return { uses, questions }
}

const versionOf = (stored: Answer): number | undefined => stored?.version
const version = (number: number): StoredSession => ({ version: number, fields: undefined })
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('requests that arrive while a question is under way share the next one', async () => {
  const { uses, questions } = ask()
  const first = uses.use('a', '', versionOf)
  const others = Array.from({ length: 100 }, () => uses.use('a', '', versionOf))
  expect(questions).toHaveLength(1)
  questions[0]![1].resolve(version(1))
  expect(await first).toBe(1)
  expect(questions).toHaveLength(2)
  questions[1]![1].resolve(version(2))
  expect(await Promise.all(others)).toEqual(others.map(() => 2))
  await soon()
  const later = uses.use('a', '', versionOf)
  expect(questions).toHaveLength(3)
  questions[2]![1].resolve(undefined)
  expect(await later).toBeUndefined()
})

test('sessions do not wait for each other', () => {
  const { uses, questions } = ask()
  void uses.use('a', '', versionOf)
  void uses.use('b', '', versionOf)
  expect(questions.map(([id]) => id)).toEqual(['a', 'b'])
})

test('the state of a session is taken over before the next question', async () => {
  const taken: string[] = []
  let count = 0
  const uses = new SessionUses(async () => {
    taken.push('asked')
    return version(++count)
  })
  const take = (stored: Answer): unknown => taken.push(`taken ${stored?.version}`)
  await Promise.all([uses.use('a', '', take), uses.use('a', '', take), uses.use('a', '', take)])
  expect(taken).toEqual(['asked', 'taken 1', 'asked', 'taken 2', 'taken 2'])
})

test('a question that fails concerns those who share it, and no others', async () => {
  const { uses, questions } = ask()
  const first = uses.use('a', '', versionOf)
  const others = [uses.use('a', '', versionOf), uses.use('a', '', versionOf)]
  questions[0]![1].reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  questions[1]![1].resolve(version(2))
  expect(await Promise.all(others)).toEqual([2, 2])
})

test('a request that cannot take over a state fails alone, and one may ask again', async () => {
  const { uses, questions } = ask()
  void uses.use('a', '', versionOf)
  const full = uses.use('a', '', () => {
    throw new Error('full')
  })
  const again = uses.use('a', '', () => uses.use('a', '', versionOf))
  const other = uses.use('a', '', versionOf)
  questions[0]![1].resolve(version(1))
  await soon()
  questions[1]![1].resolve(version(2))
  await expect(full).rejects.toThrow('full')
  expect(await other).toBe(2)
  questions[2]![1].resolve(version(3))
  expect(await again).toBe(3)
})

test('many requests that share a question do not all go on in one turn', async () => {
  const { uses, questions } = ask()
  void uses.use('a', '', versionOf)
  let taken = 0
  let inFirstTurn = 0
  const many = 500
  const others = Array.from({ length: many }, () =>
    uses.use('a', '', () => {
      if (taken++ === 0) setImmediate(() => (inFirstTurn = taken))
    }),
  )
  questions[0]![1].resolve(version(1))
  await soon()
  questions[1]![1].resolve(version(2))
  await Promise.all(others)
  expect(taken).toBe(many)
  expect(inFirstTurn).toBeGreaterThan(0)
  expect(inFirstTurn).toBeLessThan(100)
  expect(questions).toHaveLength(2)
})

test('a session that there is no room for is asked for again only after a while', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let asked = 0
  let taken = 0
  const uses = new SessionUses(() => version(++asked))
  const take = (): never => {
    taken++
    throw mcpError(TOO_MUCH_HELD, { limit: 1, share: 'a quarter' })
  }
  const refused = { kind: TOO_MUCH_HELD.kind }
  const all = Array.from({ length: 10 }, () => uses.use('a', 'ann', take))
  for (const one of all) await expect(one).rejects.toMatchObject(refused)
  expect([asked, taken]).toEqual([2, 1])
  await expect(uses.use('a', 'ann', versionOf)).rejects.toMatchObject(refused)
  // Others have the rest of the room.
  expect(await uses.use('a', 'bob', versionOf)).toBe(3)
  vi.advanceTimersByTime(10_001)
  expect(await uses.use('a', 'ann', versionOf)).toBe(4)
  vi.useRealTimers()
})
