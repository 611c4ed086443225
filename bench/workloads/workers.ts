import { startHttp, type HttpServer } from '../children.ts'
import { median, mostlyBusy, rateOf, type Plan, type Sample, type Workload } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { argumentOf, LIMIT, OURS, programOf, type Subject } from '../subjects.ts'
import { CONNECTIONS, loadAll, type WatchedRound } from './http.ts'

/** How many processes are compared with one. */
const WORKERS = 2
/** Each call takes 2 ms, and the code is short. */
const WARM_UP = 500
const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28']

/** What the row of a revision compares. */
export const workersWork = (revision: Revision): string =>
  `HTTP tools/call that uses 2 ms of CPU, ${revision}, two processes instead of one`

/** Two processes behind one port beside one, each call using 2 ms of CPU; the limit is bare node:cluster, all in one run. */
export const workers: Workload = {
  name: 'workers',
  run: async (plan, log) => {
    const samples: Sample[] = []
    for (const revision of REVISIONS) samples.push(...(await compare(revision, plan, log)))
    return samples
  },
}

async function compare(
  revision: Revision,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const servers = new Map<Subject, HttpServer>()
  const pairs = [LIMIT, OURS].map((base) => {
    const as = (count: number): Subject => ({
      ...base,
      name: `${base.name}, ${count}`,
      file: `${base.file}-workers`,
    })
    return { base, one: as(1), many: as(WORKERS) }
  })
  try {
    for (const { one, many } of pairs)
      for (const [subject, count] of [
        [one, 1],
        [many, WORKERS],
      ] as const) {
        const argument = argumentOf(subject, { handler: 'burn', workers: count })
        servers.set(subject, await startHttp(programOf(subject, 'http'), argument))
      }
    const target = { work: 'call', revision, connections: CONNECTIONS } as const
    const rounds = await loadAll(servers, target, plan, log, { warmUp: () => WARM_UP })
    const roundsOf = (subject: Subject): readonly WatchedRound[] => rounds.get(subject) ?? []
    const work = workersWork(revision)
    return pairs.flatMap(({ base, one, many }) => {
      const rates = [one, many].map((subject) => roundsOf(subject).map((round) => rateOf([round])))
      // Rounds follow each other, so each is compared with its neighbour: a disturbance affects both.
      const factors = (rates[1] ?? []).map((rate, at) => rate / (rates[0]?.[at] ?? Number.NaN))
      const busy = mostlyBusy([...roundsOf(one), ...roundsOf(many)])
      return [
        { work, subject: base, value: median(factors), unit: 'times one process', better: 'more', busy },
        { work, subject: base, value: median(rates[1] ?? []), unit: 'req/s', better: 'more', busy },
      ] satisfies readonly Sample[]
    })
  } finally {
    await Promise.all([...servers.values()].map((server) => server.close()))
  }
}
