import { startWorker, type Worker } from '../children.ts'
import type { LoadCommands, Start } from '../load.ts'
import type { StdioRound } from '../load/stdio.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import { ALL, OURS_JSON, type Subject, argumentOf, selectSubjects, programOf } from '../subjects.ts'
import { withSubjectName } from './http.ts'

const SUBJECTS: readonly Subject[] = [...ALL, OURS_JSON]
const IN_FLIGHT = 128

/** stdio with many calls in flight, and the memory of the server afterwards. */
export const stdioMany: Workload = {
  name: 'stdio-128',
  run: async (plan, log) => {
    const results = await loadPipes(IN_FLIGHT, plan, log)
    return [...results].flatMap(([subject, rounds]) => {
      const rss = (rounds.at(-1)?.rssBytes ?? Number.NaN) / 1_000_000
      return [
        {
          work: 'stdio tools/call, 128 in flight',
          subject,
          value: rateOf(rounds),
          unit: 'msg/s',
          better: 'more',
          busy: mostlyBusy(rounds),
        },
        { work: 'RSS after load, stdio', subject, value: rss, unit: 'MB', better: 'less' },
      ] satisfies readonly Sample[]
    })
  },
}

/** stdio with one call in flight: its latency. */
export const stdioOne: Workload = {
  name: 'stdio-1',
  run: async (plan, log) => {
    const results = await loadPipes(1, plan, log)
    const work = 'stdio tools/call, one in flight'
    return [...results].flatMap(([subject, rounds]) => {
      const busy = mostlyBusy(rounds)
      return [
        { work, subject, value: median(rounds.map(({ p50 }) => p50)), unit: 'µs p50', better: 'less', busy },
        { work, subject, value: median(rounds.map(({ p99 }) => p99)), unit: 'µs p99', better: 'less', busy },
      ] satisfies readonly Sample[]
    })
  },
}

/** From the start of the process to its first answer over stdio. */
export const startStdio: Workload = {
  name: 'start-stdio',
  run: (plan, log) => measureStarts('cold start to first reply, stdio', 'stdio', plan, log),
}

/** From the start of the process to its first answer over HTTP. */
export const startHttp: Workload = {
  name: 'start-http',
  run: (plan, log) => measureStarts('cold start to first reply, HTTP', 'http', plan, log),
}

type Watched<Round> = Round & { readonly busy: boolean }

async function loadPipes(
  inFlight: number,
  plan: Plan,
  log: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched<StdioRound>[]>> {
  const load: Worker<LoadCommands> = startWorker('load')
  const subjects = selectSubjects(SUBJECTS, plan)
  const once = async (subject: Subject, seconds: number): Promise<Watched<StdioRound>> => {
    const disturbed = watchOtherPrograms()
    const command = { name: subject.name, inFlight, seconds }
    const round = await withSubjectName(subject, load.ask<StdioRound>('stdio', command))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const subject of subjects) {
      const command = { name: subject.name, file: programOf(subject, 'stdio'), options: argumentOf(subject) }
      await withSubjectName(subject, load.ask('open', command))
      await once(subject, plan.warmUp)
    }
    return await interleave(subjects, plan.rounds, async (subject, number) => {
      const round = await once(subject, plan.seconds)
      log(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`)
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
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const load: Worker<LoadCommands> = startWorker('load')
  const subjects = selectSubjects(SUBJECTS, plan)
  const command = transport === 'stdio' ? 'startStdio' : 'startHttp'
  const once = async (subject: Subject): Promise<Watched<Start>> => {
    const disturbed = watchOtherPrograms()
    const program = { file: programOf(subject, transport), options: argumentOf(subject) }
    const start = await withSubjectName(subject, load.ask<Start>(command, program))
    return { ...start, busy: disturbed(start.serverCpuMs + start.workerCpuMs) }
  }
  try {
    for (const subject of subjects) await once(subject)
    const results = await interleave(subjects, plan.starts, once)
    return [...results].map(([subject, starts]) => {
      const value = median(starts.map(({ ms }) => ms))
      log(`${subject.name} ${value.toFixed(0)} ms`)
      return { work, subject, value, unit: 'ms', better: 'less', busy: mostlyBusy(starts) }
    })
  } finally {
    await load.close()
  }
}
