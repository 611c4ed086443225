import { startWorker, type Worker } from '../children.ts'
import type { InProcessOrders, InProcessRound } from '../in-process.ts'
import { watchOthers } from '../machine.ts'
import { type Plan, type Sample, type Work, interleave, median, mostly } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { ALL, LIMIT, OURS, OURS_JSON, type Subject, TMCP, V2, argumentOf, programOf } from '../subjects.ts'
import { named } from './http.ts'

/** tools/call in one process, text in and text out, on a 2025 connection. */
export const inProcess2025: Work = {
  name: 'in-process',
  run: (plan, say) =>
    compare('in process tools/call, 2025-11-25', '2025-11-25', [...ALL, OURS_JSON], plan, say),
}

/** The same at 2026-07-28. */
export const inProcess2026: Work = {
  name: 'in-process-2026',
  run: (plan, say) =>
    compare('in process tools/call, 2026-07-28', '2026-07-28', [LIMIT, OURS, V2, TMCP, OURS_JSON], plan, say),
}

/** The cost of a call when ever more tools are registered. */
export const manyTools: Work = {
  name: 'many-tools',
  run: async (plan, say) => {
    const servers = new Map<Subject, number>(
      plan.toolCounts.map((count) => [{ ...OURS, options: { wide: count - 1 } }, count] as const),
    )
    const results = await callAll([...servers.keys()], '2025-11-25', plan, (line) => say(line))
    const samples = [...results].map(([subject, rounds]): Sample => {
      const tools = servers.get(subject) ?? 0
      const work = `in process tools/call, ${tools.toLocaleString('en')} ${tools === 1 ? 'tool' : 'tools'} registered`
      return {
        work,
        subject: OURS,
        value: rateOf(rounds),
        unit: 'msg/s',
        better: 'more',
        busy: mostly(rounds),
      }
    })
    const [alone = Number.NaN, ...crowded] = samples.map(({ value }) => value)
    const value = (alone / Math.min(...crowded) - 1) * 100
    const work = 'in process tools/call, what a call costs more with many tools than with one'
    return [...samples, { work, subject: OURS, value, unit: '%', better: 'less' }]
  },
}

type Watched = InProcessRound & { readonly busy: boolean }

async function compare(
  work: string,
  revision: Revision,
  subjects: readonly Subject[],
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const results = await callAll(subjects, revision, plan, say)
  return [...results].map(([subject, rounds]) => ({
    work,
    subject,
    value: rateOf(rounds),
    unit: 'msg/s',
    better: 'more',
    busy: mostly(rounds),
  }))
}

/** Every subject has a process of its own, which is idle while another one is measured. */
async function callAll(
  subjects: readonly Subject[],
  revision: Revision,
  plan: Plan,
  say: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched[]>> {
  const workers = new Map<Subject, Worker<InProcessOrders>>()
  const once = async (subject: Subject, seconds: number): Promise<Watched> => {
    const worker = workers.get(subject)
    if (!worker) throw new Error(`${subject.name} is not running`)
    const disturbed = watchOthers()
    const round = await named(subject, worker.ask<InProcessRound>('call', { seconds }))
    return { ...round, busy: disturbed(round.workerCpuMs) }
  }
  try {
    for (const subject of subjects) {
      const worker: Worker<InProcessOrders> = startWorker('in-process', argumentOf(subject))
      workers.set(subject, worker)
      await named(subject, worker.ask('open', { subject: programOf(subject, 'memory'), revision }))
      await once(subject, plan.warmUp)
    }
    return await interleave(subjects, plan.rounds, async (subject, number) => {
      const round = await once(subject, plan.seconds)
      say(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`)
      return round
    })
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()))
  }
}

function rateOf(rounds: readonly InProcessRound[]): number {
  return median(rounds.map(({ count, seconds }) => count / seconds))
}
