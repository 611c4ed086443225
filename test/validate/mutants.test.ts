import { afterAll, beforeAll, expect, test } from 'vitest'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import { TRANSPORTS } from '../../src/validate/rule.ts'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'
import { isSpoken } from '../../src/validate/server-run.ts'
import { serveEverywhere, type Served } from './faulty-door.ts'
import { createFixture } from './fixture.ts'
import type { Mutant } from './mutant-parts.ts'
import { MUTANTS } from './mutants.ts'
import { outcomesOf } from './prove.ts'
import { wholeRun } from './whole-run.ts'

/** How many mutants are checked at once: most of the time is spent waiting for answers that do not come. */
const AT_ONCE = 4

let served: Served
beforeAll(async () => {
  served = await serveEverywhere(createFixture())
})
afterAll(() => served.close())

const places = REVISIONS.flatMap((revision) =>
  TRANSPORTS.filter((transport) => isSpoken(revision, transport)).map((transport) => ({
    revision,
    transport,
  })),
)

test.each(places)('our own server passes all rules in one run, at $revision on $transport', async (place) => {
  const outcomes = await outcomesOf(served, SERVER_RULES, place)
  const wrong = outcomes.filter(({ is }) => is === 'failed' || is === 'unchecked')
  expect(wrong.map(({ id, is, found }) => `${id} ${is}: ${found ?? ''}`)).toEqual([])
})

test(
  `of ${MUTANTS.length} servers with one thing wrong, at least 95 % are found`,
  { timeout: 900_000 },
  async () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40)
    const left = [...MUTANTS]
    const missed: string[] = []
    const work = async (): Promise<void> => {
      for (let mutant = left.pop(); mutant !== undefined; mutant = left.pop())
        if (!(await isFound(mutant)))
          missed.push(`${mutant.does}, at ${mutant.revision} on ${mutant.transport}`)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(missed.length > MUTANTS.length * 0.05 ? missed : []).toEqual([])
  },
)

async function isFound({ revision, transport, fault }: Mutant): Promise<boolean> {
  const { outcomes } = await wholeRun(served, { revisions: [revision], transport, fault })
  return outcomes.some(({ is }) => is === 'failed')
}
