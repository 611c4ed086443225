import { CALL_ROWS, type CallRow, nameOf, titleOf } from '../call-rows.ts'
import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { HttpRound, HttpTarget } from '../load/http.ts'
import type { LoadCommands } from '../load.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import type { Extent } from '../extent.ts'
import type { HandlerKind } from '../kinds.ts'
import type { Revision } from '../messages.ts'
import { ALL, AT_2026, type Subject, argumentOf, selectSubjects, programOf } from '../subjects.ts'

/** The number of concurrent clients. */
export const CONNECTIONS = 32

/** HTTP tools/call with one 2025 session per connection. */
export function httpSession(kind: HandlerKind): Workload {
  const setup = { row: CALL_ROWS.httpSession, revision: '2025-11-25', subjects: ALL, kind } as const
  return { name: nameOf(setup.row, kind), run: (plan, log) => measureCalls(setup, plan, log) }
}

/** HTTP tools/call at 2026-07-28. */
export function http2026(kind: HandlerKind): Workload {
  const setup = { row: CALL_ROWS.http2026, revision: '2026-07-28', subjects: AT_2026, kind } as const
  return { name: nameOf(setup.row, kind), run: (plan, log) => measureCalls(setup, plan, log) }
}

/** A row of calls: who is measured at which revision, and with which handler. */
export interface CallSetup {
  readonly row: CallRow
  readonly revision: Revision
  readonly subjects: readonly Subject[]
  readonly kind: HandlerKind
}

async function measureCalls(
  { row, revision, subjects, kind }: CallSetup,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const servers = new Map<Subject, HttpServer>()
  try {
    for (const subject of selectSubjects(subjects, plan))
      servers.set(
        subject,
        await startHttp(programOf(subject, 'http'), argumentOf(subject, { handler: kind.handler })),
      )
    const target = { work: 'call', revision, connections: CONNECTIONS } as const
    return toSamples(titleOf(row, kind), await loadAll(servers, target, plan, log))
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

/** How a load differs from the usual one. */
interface LoadOptions {
  /** The process that sends the calls; a new one unless given. */
  readonly from?: Worker<LoadCommands>
  /** The number of calls before the first round. */
  readonly warmUp?: (subject: Subject) => number
  /** The token in the requests to a subject; none unless given. */
  readonly tokenFor?: (subject: Subject) => string | undefined
}

/** Warms up every server, then loads them in turn. */
export async function loadAll(
  servers: ReadonlyMap<Subject, HttpServer>,
  target: Omit<HttpTarget, 'port' | 'pid' | 'token'>,
  plan: Plan,
  log: (line: string) => void,
  { from, warmUp = () => plan.warmUp.wire, tokenFor = () => undefined }: LoadOptions = {},
): Promise<ReadonlyMap<Subject, readonly WatchedRound[]>> {
  const load: Worker<LoadCommands> = from ?? startWorker('load')
  const once = async (subject: Subject, extent: Extent): Promise<WatchedRound> => {
    const server = servers.get(subject)
    if (!server) throw new Error(`${subject.name} is not running`)
    const disturbed = watchOtherPrograms()
    const token = tokenFor(subject)
    const whole = { ...target, port: server.port, pid: server.pid, ...(token !== undefined && { token }) }
    const round = await withSubjectName(subject, load.ask<HttpRound>('http', { target: whole, extent }))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const subject of servers.keys()) await once(subject, { calls: warmUp(subject) })
    return await interleave([...servers.keys()], plan, async (subject, number) => {
      const round = await once(subject, { seconds: plan.seconds })
      log(`round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} req/s`)
      return round
    })
  } finally {
    if (!from) await load.close()
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
