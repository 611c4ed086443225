import { LOADS, WAYS, latencyName } from '../loads.ts'
import { type Plan, type Sample, type Work, interleave, median, mostly } from '../measure.ts'
import { LIMIT, OURS, type Subject } from '../subjects.ts'
import { Stage } from './streams.ts'

const SHARES = [
  { unit: 'µs p50', of: 'p50' },
  { unit: 'µs p95', of: 'p95' },
  { unit: 'µs p99', of: 'p99' },
  { unit: 'µs p99.9', of: 'p999' },
] as const
/** The slowest of a thousand needs more samples than a rate does. */
const LONGER = 2

/** How long a call takes at a part of the most that can be done, sent at a fixed rate; the limit gets the same rate. */
export const latency: Work = {
  name: 'latency',
  run: async (plan, say) => {
    const samples: Sample[] = []
    for (const way of WAYS) {
      const { transport, title, connections, inFlight } = way
      const stage = await Stage.open([LIMIT, OURS], { transport, sent: 'call', connections })
      try {
        const most = await mostOf(stage, inFlight, plan)
        say(`${title}: at most ${Math.round(most)} calls/s`)
        const work = `latency over ${title}, what counts as 100 % load`
        samples.push({ work, subject: OURS, value: most, unit: 'msg/s', better: 'more' })
        for (const load of LOADS) {
          const rate = (most * load) / 100
          samples.push(...(await atRate(stage, rate, latencyName(way, load), plan, say)))
        }
      } finally {
        await stage.close()
      }
    }
    return samples
  },
}

/** Calls per second of our server without a pause. */
async function mostOf(stage: Stage, inFlight: number, plan: Plan): Promise<number> {
  for (const subject of [LIMIT, OURS]) await stage.flood(subject, inFlight, plan.warmUp)
  const rates: number[] = []
  for (let round = 0; round < 3; round++) {
    const { count, seconds } = await stage.flood(OURS, inFlight, plan.seconds)
    rates.push(count / seconds)
  }
  return median(rates)
}

async function atRate(
  stage: Stage,
  rate: number,
  work: string,
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const once = (subject: Subject): ReturnType<Stage['pace']> =>
    stage.pace(subject, rate, plan.seconds * LONGER)
  for (const subject of [LIMIT, OURS]) await stage.pace(subject, rate, plan.warmUp)
  const results = await interleave([LIMIT, OURS], plan.rounds, once)
  return [...results].flatMap(([subject, rounds]) => {
    const busy = mostly(rounds)
    const values = SHARES.map(({ unit, of }) => ({ unit, value: median(rounds.map((round) => round[of])) }))
    say(
      `${work}: ${subject.name} ${values.map(({ value }) => value).join(' / ')} µs at ${Math.round(rate)}/s`,
    )
    return values.map(({ unit, value }): Sample => ({ work, subject, value, unit, better: 'less', busy }))
  })
}
