import {
  type Plan,
  type Sample,
  type Workload,
  increasePercent,
  median,
  mostlyBusy,
  rateOf,
} from '../measure.ts'
import { OURS, type Subject } from '../subjects.ts'
import { Pool, type WatchedCalls } from './pool.ts'

const SLICES = 20

/** Calls without a pause: whether the heap grows, and whether calls become slower. */
export const sustained: Workload = {
  name: 'sustained',
  run: async (plan, log) => {
    const edge = Math.min(5, Math.floor(plan.sustained / 3))
    const { seconds, grownBytes } = await callEverySecond(plan, edge)
    const first = seconds.slice(0, edge)
    const last = seconds.slice(-edge)
    const rise = (median(last.map(costOf)) / median(first.map(costOf)) - 1) * 100
    const millions = seconds.slice(edge).reduce((total, { count }) => total + count, 0) / 1e6
    log(`heap ${(grownBytes / 1000).toFixed(0)} KB more after ${millions.toFixed(1)} million calls`)
    const work = `in process tools/call, ${plan.sustained} s without a pause`
    const named = 'in process tools/call in a long run'
    const rate = { subject: OURS, unit: 'msg/s', better: 'more', busy: mostlyBusy(seconds) } as const
    const cost = { subject: OURS, better: 'less', busy: mostlyBusy(seconds) } as const
    return [
      { ...rate, work, value: rateOf(seconds) },
      { ...rate, work: `${work}: the first ${edge} s`, value: rateOf(first) },
      { ...rate, work: `${work}: the last ${edge} s`, value: rateOf(last) },
      { ...cost, work: `${named}, what the last seconds cost more than the first`, value: rise, unit: '%' },
      {
        ...cost,
        work: `${named}, growth of the heap`,
        value: grownBytes / 1000 / millions,
        unit: 'KB per million calls',
      },
    ]
  },
}

/** Calls second by second, and compares the heap after the first few seconds with the heap at the end. */
async function callEverySecond(
  { sustained: duration, warmUp }: Plan,
  edge: number,
): Promise<{ readonly seconds: readonly WatchedCalls[]; readonly grownBytes: number }> {
  const pool = new Pool('2025-11-25')
  const seconds: WatchedCalls[] = []
  try {
    await pool.open(OURS)
    await pool.call(OURS, { calls: warmUp.memory })
    while (seconds.length < edge) seconds.push(await pool.call(OURS, { seconds: 1 }))
    const before = await pool.heapBytes(OURS)
    while (seconds.length < duration) seconds.push(await pool.call(OURS, { seconds: 1 }))
    return { seconds, grownBytes: (await pool.heapBytes(OURS)) - before }
  } finally {
    await pool.close()
  }
}

/**
 * The cost of a call with a growing number of tools. All servers run in one process: between processes, the size of the
 * young generation and the placement of long-lived objects in V8 differ by more than the measured effect.
 */
export const manyTools: Workload = {
  name: 'many-tools',
  run: async (plan, log) => {
    const counts = new Map<Subject, number>(
      plan.toolCounts.map((count) => [{ ...OURS, name: `${count} tools` }, count]),
    )
    const pool = new Pool('2025-11-25')
    try {
      for (const [subject, count] of counts) await pool.open(subject, { wide: count - 1, sharedWith: OURS })
      // Many short rounds, because the sizes are compared within each round.
      const brief = { ...plan, rounds: plan.rounds * SLICES, seconds: plan.seconds / SLICES }
      const results = await pool.callAll([...counts.keys()], brief, () => {})
      const samples = [...results].map(([subject, rounds]): Sample => {
        const tools = counts.get(subject) ?? 0
        const work = `in process tools/call, ${tools.toLocaleString('en')} ${tools === 1 ? 'tool' : 'tools'} registered`
        const value = rateOf(rounds)
        return { work, subject: OURS, value, unit: 'msg/s', better: 'more', busy: mostlyBusy(rounds) }
      })
      const costs = [...results.values()].map((rounds) => rounds.map(costOf))
      const value = increasePercent(costs)
      log(`${costs.map((each) => `${median(each).toFixed(2)} µs`).join(', ')} of CPU for a call`)
      const busy = samples.some((sample) => sample.busy)
      const work = 'in process tools/call, what a call costs more with many tools than with one'
      return [...samples, { work, subject: OURS, value, unit: '%', better: 'less', busy }]
    } finally {
      await pool.close()
    }
  },
}

/** CPU time per call, in microseconds. */
function costOf({ workerCpuMs, count }: WatchedCalls): number {
  return (workerCpuMs * 1000) / count
}
