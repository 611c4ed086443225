import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { HttpRound, HttpTarget } from '../load/http.ts'
import type { LoadCommands } from '../load.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import type { Revision } from '../messages.ts'
import {
  ALL,
  LIMIT,
  OURS,
  type Subject,
  TMCP,
  V2,
  argumentOf,
  selectSubjects,
  programOf,
} from '../subjects.ts'

/** The number of concurrent clients. */
export const CONNECTIONS = 32

/** HTTP tools/call with one 2025 session per connection. */
export const httpSession: Workload = {
  name: 'http-session',
  run: (plan, log) => measureCalls('HTTP tools/call, 2025-11-25 session', '2025-11-25', ALL, plan, log),
}

/** HTTP tools/call at 2026-07-28; official v1 does not serve that revision. */
export const http2026: Workload = {
  name: 'http-2026',
  run: (plan, log) =>
    measureCalls('HTTP tools/call, 2026-07-28', '2026-07-28', [LIMIT, OURS, V2, TMCP], plan, log),
}

async function measureCalls(
  work: string,
  revision: Revision,
  subjects: readonly Subject[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const servers = new Map<Subject, HttpServer>()
  try {
    for (const subject of selectSubjects(subjects, plan))
      servers.set(subject, await startHttp(programOf(subject, 'http'), argumentOf(subject)))
    const target = { work: 'call', revision, connections: CONNECTIONS } as const
    return toSamples(work, await loadAll(servers, target, plan, log))
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
  }
}

/** The requests per second and the p99 latency of each subject. */
export function toSamples(
  work: string,
  results: ReadonlyMap<Subject, readonly WatchedRound[]>,
): readonly Sample[] {
  return [...results].flatMap(([subject, rounds]) => {
    const busy = mostlyBusy(rounds)
    const p99 = median(rounds.map((round) => round.p99))
    return [
      { work, subject, value: rateOf(rounds), unit: 'req/s', better: 'more', busy },
      { work, subject, value: p99, unit: 'µs p99', better: 'less', busy },
    ] satisfies readonly Sample[]
  })
}

/** A round, and whether other programs disturbed it. */
export type WatchedRound = HttpRound & { readonly busy: boolean }

/** Warms up every server, then loads them in turn, from a new process unless one is given. */
export async function loadAll(
  servers: ReadonlyMap<Subject, HttpServer>,
  target: Omit<HttpTarget, 'port' | 'pid'>,
  plan: Plan,
  log: (line: string) => void,
  given?: Worker<LoadCommands>,
): Promise<ReadonlyMap<Subject, readonly WatchedRound[]>> {
  const load: Worker<LoadCommands> = given ?? startWorker('load')
  const once = async (subject: Subject, seconds: number): Promise<WatchedRound> => {
    const server = servers.get(subject)
    if (!server) throw new Error(`${subject.name} is not running`)
    const disturbed = watchOtherPrograms()
    const whole: HttpTarget = { ...target, port: server.port, pid: server.pid }
    const round = await withSubjectName(subject, load.ask<HttpRound>('http', { target: whole, seconds }))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const subject of servers.keys()) await once(subject, plan.warmUp)
    return await interleave([...servers.keys()], plan.rounds, async (subject, number) => {
      const round = await once(subject, plan.seconds)
      log(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} req/s`)
      return round
    })
  } finally {
    if (!given) await load.close()
  }
}

/** Prefixes errors with the name of the subject. */
export async function withSubjectName<Result>(subject: Subject, result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    throw new Error(`${subject.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
