import { describe, expect, test } from 'vitest'
import { call, headed, type Headed } from '../http/messages.ts'
import { open } from '../http/server.ts'
import { offer, saturate, type Outcome } from './offer.ts'
import { Program } from './program.ts'

/** The best and the worst are measured in turns, and all of it counts: other work on the machine then hurts both. */
const ROUNDS = 2
/** What must be left of the best on a machine that does other work too. */
const SHARE = 0.6
const DEADLINE_MS = 2000

/** Requests of one revision for a tool. */
async function requests(
  port: number,
  revision: string,
  name: string,
  of: number,
): Promise<(id: number) => Headed> {
  if (revision === '2026-07-28') return (id) => headed('tools/call', { name, arguments: { of } }, id)
  const { headers } = await open(port, revision)
  return (id) => ({ body: call(name, { of }, id + 2), headers })
}

const sum = <Item>(items: readonly Item[], count: (item: Item) => number | undefined): number =>
  items.reduce((total, item) => total + (count(item) ?? 0), 0)

interface Phase extends Outcome {
  /** The time that the server had of the processor. */
  readonly cpuMs: number
}

/** Answers in time for each second, of the processor's time where that is what there is too little of. */
function rate(phases: readonly Phase[], of: 'cpu' | 'wall'): number {
  if (of === 'wall') return sum(phases, ({ goodput }) => goodput) / phases.length
  return sum(phases, ({ ends }) => ends['200']) / sum(phases, ({ cpuMs }) => cpuMs / 1000)
}

describe.each(['2026-07-28', '2025-11-25'])('three times what the server can do, at %s', (revision) => {
  test.each([
    ['takes the processor', 'cpu', 'work', 16, { waitMs: 300 }],
    ['waits for a back end', 'wall', 'pool', 50, { allInFlight: 60 }],
  ] as const)(
    'of work that %s: most of the best is still done, the rest is told to come back [L10]',
    async (_, scarce, tool, of, limits) => {
      const program = await Program.start({ limits })
      const request = await requests(program.port, revision, tool, of)
      const options = { port: program.port, deadlineMs: DEADLINE_MS, request }
      const phase = async (run: () => Promise<Outcome>): Promise<Phase> => {
        const before = program.cpuMs
        const outcome = await run()
        return { ...outcome, cpuMs: program.cpuMs - before }
      }
      await saturate(16, { ...options, ms: 300 })
      const best: Phase[] = []
      const worst: Phase[] = []
      for (let round = 0; round < ROUNDS; round++) {
        best.push(await phase(() => saturate(16, { ...options, ms: 600 })))
        worst.push(await phase(() => offer(best[round]!.goodput * 3, { ...options, ms: 1500 })))
      }
      const refused = worst.flatMap((outcome) => outcome.refused)
      expect(rate(worst, scarce) / rate(best, scarce)).toBeGreaterThan(SHARE)
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
      expect(refused.length).toBeGreaterThan(20)
      expect(sum(worst, ({ ends }) => ends['late'])).toBeLessThan(refused.length / 4)
      expect(refused.at(-1)?.headers['retry-after']).toBe('1')
      expect(refused.at(-1)?.json).toMatchObject({
        id: expect.any(Number) as number,
        error: { code: 1005, data: { refusal: { name: 'BACKPRESSURE_ACTIVE', retryAfterMs: 1000 } } },
      })
      const after = await saturate(4, { ...options, ms: 300 })
      expect(Object.keys(after.ends)).toEqual(['200'])
      const { counts, running } = await program.state()
      expect([counts['overloaded'], running]).toEqual([refused.length, 0])
    },
  )
})
