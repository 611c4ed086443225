import { startWorker, type Worker } from '../children.ts'
import type { LoadOrders, Start } from '../load.ts'
import type { StdioRound } from '../load/stdio.ts'
import { watchOthers } from '../machine.ts'
import { type Plan, type Sample, type Work, interleave, median, mostly, rateOf } from '../measure.ts'
import { ALL, OURS_JSON, type Subject, argumentOf, chosenFrom, programOf } from '../subjects.ts'
import { named } from './http.ts'

const SUBJECTS: readonly Subject[] = [...ALL, OURS_JSON]
const IN_FLIGHT = 128

/** stdio with many calls in flight, and the memory of the server after it. */
export const stdioMany: Work = {
  name: 'stdio-128',
  run: async (plan, say) => {
    const results = await loadPipes(IN_FLIGHT, plan, say)
    return [...results].flatMap(([subject, rounds]) => {
      const rss = (rounds.at(-1)?.rssBytes ?? Number.NaN) / 1_000_000
      return [
        {
          work: 'stdio tools/call, 128 in flight',
          subject,
          value: rateOf(rounds),
          unit: 'msg/s',
          better: 'more',
          busy: mostly(rounds),
        },
        { work: 'RSS after load, stdio', subject, value: rss, unit: 'MB', better: 'less' },
      ] satisfies readonly Sample[]
    })
  },
}

/** stdio with one call in flight: how long it takes. */
export const stdioOne: Work = {
  name: 'stdio-1',
  run: async (plan, say) => {
    const results = await loadPipes(1, plan, say)
    const work = 'stdio tools/call, one in flight'
    return [...results].flatMap(([subject, rounds]) => {
      const busy = mostly(rounds)
      return [
        { work, subject, value: median(rounds.map(({ p50 }) => p50)), unit: 'µs p50', better: 'less', busy },
        { work, subject, value: median(rounds.map(({ p99 }) => p99)), unit: 'µs p99', better: 'less', busy },
      ] satisfies readonly Sample[]
    })
  },
}

/** From the start of the process to its first answer over stdio. */
export const startStdio: Work = {
  name: 'start-stdio',
  run: (plan, say) => measureStarts('cold start to first reply, stdio', 'stdio', plan, say),
}

/** From the start of the process to its first answer over HTTP. */
export const startHttp: Work = {
  name: 'start-http',
  run: (plan, say) => measureStarts('cold start to first reply, HTTP', 'http', plan, say),
}

type Watched<Round> = Round & { readonly busy: boolean }

async function loadPipes(
  inFlight: number,
  plan: Plan,
  say: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched<StdioRound>[]>> {
  const load: Worker<LoadOrders> = startWorker('load')
  const subjects = chosenFrom(SUBJECTS, plan)
  const once = async (subject: Subject, seconds: number): Promise<Watched<StdioRound>> => {
    const disturbed = watchOthers()
    const order = { name: subject.name, inFlight, seconds }
    const round = await named(subject, load.ask<StdioRound>('stdio', order))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const subject of subjects) {
      const order = { name: subject.name, file: programOf(subject, 'stdio'), options: argumentOf(subject) }
      await named(subject, load.ask('open', order))
      await once(subject, plan.warmUp)
    }
    return await interleave(subjects, plan.rounds, async (subject, number) => {
      const round = await once(subject, plan.seconds)
      say(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`)
      return round
    })
  } finally {
    await load.close()
  }
}

async function measureStarts(
  work: string,
  transport: 'stdio' | 'http',
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const load: Worker<LoadOrders> = startWorker('load')
  const subjects = chosenFrom(SUBJECTS, plan)
  const order = transport === 'stdio' ? 'startStdio' : 'startHttp'
  const once = async (subject: Subject): Promise<Watched<Start>> => {
    const disturbed = watchOthers()
    const what = { file: programOf(subject, transport), options: argumentOf(subject) }
    const start = await named(subject, load.ask<Start>(order, what))
    return { ...start, busy: disturbed(start.serverCpuMs + start.workerCpuMs) }
  }
  try {
    for (const subject of subjects) await once(subject)
    const results = await interleave(subjects, plan.starts, once)
    return [...results].map(([subject, starts]) => {
      const value = median(starts.map(({ ms }) => ms))
      say(`${subject.name} ${value.toFixed(0)} ms`)
      return { work, subject, value, unit: 'ms', better: 'less', busy: mostly(starts) }
    })
  } finally {
    await load.close()
  }
}
