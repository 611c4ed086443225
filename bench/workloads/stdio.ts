import { CALL_ROWS, nameOf, titleOf } from '../call-rows.ts'
import { startWorker, type Worker } from '../children.ts'
import type { LoadCommands, Start } from '../load.ts'
import type { StdioRound } from '../load/stdio.ts'
import type { Extent } from '../extent.ts'
import { type HandlerKind, TEXT } from '../kinds.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import { ALL, type Subject, argumentOf, programOf, selectSubjects, withJsonSchema } from '../subjects.ts'
import { withSubjectName } from './http.ts'

const IN_FLIGHT = 128

/** stdio with many calls in flight, and the memory of the server afterwards. */
export function stdioMany(kind: HandlerKind): Workload {
  return {
    name: nameOf(CALL_ROWS.stdioMany, kind),
    run: async (plan, log) => {
      const results = await loadPipes(IN_FLIGHT, kind, plan, log)
      return [...results].flatMap(([subject, rounds]) => {
        const rss = (rounds.at(-1)?.rssBytes ?? Number.NaN) / 1_000_000
        const busy = mostlyBusy(rounds)
        const work = titleOf(CALL_ROWS.stdioMany, kind)
        const memory = `RSS after load, stdio${kind.title}`
        return [
          { work, subject, value: rateOf(rounds), unit: 'msg/s', better: 'more', busy },
          { work: memory, subject, value: rss, unit: 'MB', better: 'less', busy },
        ] satisfies readonly Sample[]
      })
    },
  }
}

/** stdio with one call in flight: its latency. */
export const stdioOne: Workload = {
  name: 'stdio-1',
  run: async (plan, log) => {
    const results = await loadPipes(1, TEXT, plan, log)
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
  kind: HandlerKind,
  plan: Plan,
  log: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched<StdioRound>[]>> {
  const load: Worker<LoadCommands> = startWorker('load')
  const subjects = selectSubjects(withJsonSchema(ALL, kind), plan)
  const once = async (subject: Subject, extent: Extent): Promise<Watched<StdioRound>> => {
    const disturbed = watchOtherPrograms()
    const command = { name: subject.name, inFlight, extent }
    const round = await withSubjectName(subject, load.ask<StdioRound>('stdio', command))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const subject of subjects) {
      const options = argumentOf(subject, { handler: kind.handler })
      const command = { name: subject.name, file: programOf(subject, 'stdio'), options }
      await withSubjectName(subject, load.ask('open', command))
      await once(subject, { calls: plan.warmUp.wire })
    }
    return await interleave(subjects, plan, async (subject, number) => {
      const round = await once(subject, { seconds: plan.seconds })
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
  const subjects = selectSubjects(withJsonSchema(ALL, TEXT), plan)
  const command = transport === 'stdio' ? 'startStdio' : 'startHttp'
  const once = async (subject: Subject): Promise<Watched<Start>> => {
    const disturbed = watchOtherPrograms()
    const program = { file: programOf(subject, transport), options: argumentOf(subject) }
    const start = await withSubjectName(subject, load.ask<Start>(command, program))
    return { ...start, busy: disturbed(start.serverCpuMs + start.workerCpuMs) }
  }
  try {
    for (const subject of subjects) await once(subject)
    const results = await interleave(subjects, { rounds: plan.starts }, once)
    return [...results].map(([subject, starts]) => {
      const value = median(starts.map(({ ms }) => ms))
      log(`${subject.name} ${value.toFixed(0)} ms`)
      return { work, subject, value, unit: 'ms', better: 'less', busy: mostlyBusy(starts) }
    })
  } finally {
    await load.close()
  }
}
