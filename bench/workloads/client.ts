import { startHttp, startWorker, type Worker } from '../children.ts'
import type { ClientCommands, ClientRound, ClientTarget } from '../client.ts'
import type { Extent } from '../extent.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { LIMIT, OURS, OURS_JSON, type Subject, V1, V2, argumentOf, programOf } from '../subjects.ts'
import { withSubjectName } from './http.ts'

/** Calls through each client to one and the same HTTP server; the limit is bare `fetch`. */
export const clientHttp: Workload = {
  name: 'client-http',
  run: async (plan, log) => {
    const server = await startHttp(programOf(OURS_JSON, 'http'), argumentOf(OURS_JSON))
    const target = { url: `http://127.0.0.1:${server.port}/mcp`, pid: server.pid }
    try {
      return await compare('client tools/call over HTTP', target, plan, log)
    } finally {
      await server.close()
    }
  },
}

/** Calls through each client to a child that runs the same server; the limit is a bare pipe. */
export const clientStdio: Workload = {
  name: 'client-stdio',
  run: (plan, log) => {
    const args = [programOf(OURS_JSON, 'stdio'), argumentOf(OURS_JSON)]
    const target = { command: process.execPath, args }
    return compare('client tools/call over stdio', target, plan, log)
  },
}

interface Contender {
  readonly subject: Subject
  readonly revision: Revision
}

/** Official v1 supports revisions up to 2025-11-25, and appears in both comparisons at that one. */
const CONTENDERS: ReadonlyMap<Subject, Contender> = new Map(
  (
    [
      [LIMIT, '2026-07-28'],
      [OURS, '2026-07-28'],
      [LIMIT, '2025-11-25'],
      [OURS, '2025-11-25'],
      [V1, '2025-11-25'],
      [V2, '2026-07-28'],
      [V2, '2025-11-25'],
    ] as const
  ).map(([subject, revision]) => [
    { ...subject, name: `${subject.name}, ${revision}` },
    { subject, revision },
  ]),
)

async function compare(
  work: string,
  target: ClientTarget,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const results = await callAll(target, plan, log)
  return (['2026-07-28', '2025-11-25'] as const).flatMap((revision) =>
    [...results].flatMap(([key, rounds]) => {
      const contender = CONTENDERS.get(key)
      if (!contender || (contender.revision !== revision && contender.subject !== V1)) return []
      return toSamples(`${work}, ${revision}`, contender.subject, rounds)
    }),
  )
}

function toSamples(work: string, subject: Subject, rounds: readonly Watched[]): readonly Sample[] {
  const busy = mostlyBusy(rounds)
  const p50 = median(rounds.map((round) => round.p50))
  return [
    { work, subject, value: p50, unit: 'µs p50', better: 'less', busy },
    { work, subject, value: rateOf(rounds), unit: 'calls/s', better: 'more', busy },
  ]
}

type Watched = ClientRound & { readonly busy: boolean }

/** Every client has its own process, which is idle while another one is measured. */
async function callAll(
  target: ClientTarget,
  plan: Plan,
  log: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched[]>> {
  const workers = new Map<Subject, Worker<ClientCommands>>()
  const once = async (subject: Subject, extent: Extent): Promise<Watched> => {
    const worker = workers.get(subject)
    if (!worker) throw new Error(`${subject.name} is not running`)
    const disturbed = watchOtherPrograms()
    const round = await withSubjectName(subject, worker.ask<ClientRound>('call', { extent }))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const [subject, { revision }] of CONTENDERS) {
      const worker: Worker<ClientCommands> = startWorker('client')
      workers.set(subject, worker)
      const command = { subject: programOf(subject, 'client'), target, revision }
      await withSubjectName(subject, worker.ask('open', command))
      await once(subject, { calls: plan.warmUp.wire })
    }
    return await interleave([...CONTENDERS.keys()], plan, async (subject, number) => {
      const round = await once(subject, { seconds: plan.seconds * SHARE })
      log(`round ${number + 1}: ${subject.name} ${round.p50} µs`)
      return round
    })
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()))
  }
}

/** A call takes a fraction of a millisecond, so a part of a round has enough of them. */
const SHARE = 0.4
