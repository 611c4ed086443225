import { LOADS, LATENCY_SETUPS, latencyName } from '../latency-rows.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import { LIMIT, OURS, type Subject } from '../subjects.ts'
import { Stage, type WatchedStream } from './streams.ts'

const PERCENTILES = [
  { unit: 'µs p50', of: 'p50' },
  { unit: 'µs p95', of: 'p95' },
  { unit: 'µs p99', of: 'p99' },
  { unit: 'µs p99.9', of: 'p999' },
] as const
/** The share of the warm-up that is repeated at each rate. */
const SETTLING = 0.25
/** The p99.9 latency needs more samples than a rate does. */
const LONGER = 2

/** The latency of calls sent at a fixed share of the maximum rate; the limit gets the same rate. */
export const latency: Workload = {
  name: 'latency',
  run: async (plan, log) => {
    const samples: Sample[] = []
    for (const setup of LATENCY_SETUPS) {
      const { transport, title, connections, inFlight } = setup
      const stage = await Stage.open([LIMIT, OURS], { transport, sent: 'call', connections })
      try {
        const { maxRate, busy } = await maxRateOf(stage, inFlight, plan)
        log(`${title}: at most ${Math.round(maxRate)} calls/s`)
        const work = `latency over ${title}, what counts as 100 % load`
        samples.push({ work, subject: OURS, value: maxRate, unit: 'msg/s', better: 'more', busy })
        for (const load of LOADS) {
          const rate = (maxRate * load) / 100
          samples.push(...(await atRate(stage, rate, latencyName(setup, load), plan, log)))
        }
      } finally {
        await stage.close()
      }
    }
    return samples
  },
}

/** The calls per second of our server without a pause. */
async function maxRateOf(
  stage: Stage,
  inFlight: number,
  plan: Plan,
): Promise<{ readonly maxRate: number; readonly busy: boolean }> {
  for (const subject of [LIMIT, OURS]) await stage.flood(subject, inFlight, { calls: plan.warmUp.wire })
  const rounds: WatchedStream[] = []
  for (let round = 0; round < 3; round++)
    rounds.push(await stage.flood(OURS, inFlight, { seconds: plan.seconds }))
  return { maxRate: rateOf(rounds), busy: mostlyBusy(rounds) }
}

async function atRate(
  stage: Stage,
  rate: number,
  work: string,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const once = (subject: Subject): ReturnType<Stage['pace']> =>
    stage.pace(subject, rate, { seconds: plan.seconds * LONGER })
  for (const subject of [LIMIT, OURS]) await stage.pace(subject, rate, { calls: plan.warmUp.wire * SETTLING })
  const results = await interleave([LIMIT, OURS], plan, once)
  return [...results].flatMap(([subject, rounds]) => {
    const busy = mostlyBusy(rounds)
    const values = PERCENTILES.map(({ unit, of }) => ({
      unit,
      value: median(rounds.map((round) => round[of])),
    }))
    log(
      `${work}: ${subject.name} ${values.map(({ value }) => value).join(' / ')} µs at ${Math.round(rate)}/s`,
    )
    return values.map(({ unit, value }): Sample => ({ work, subject, value, unit, better: 'less', busy }))
  })
}
