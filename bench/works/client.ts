import { startHttp, startWorker, type Worker } from '../children.ts'
import type { ClientOrders, ClientRound, ClientTarget } from '../client.ts'
import { watchOthers } from '../machine.ts'
import { type Plan, type Sample, type Work, interleave, median, mostly, rateOf } from '../measure.ts'
import type { Revision } from '../messages.ts'
import { LIMIT, OURS, OURS_JSON, type Subject, V1, V2, argumentOf, programOf } from '../subjects.ts'
import { named } from './http.ts'

/** Calls through each client to one and the same HTTP server; the limit is bare `fetch`. */
export const clientHttp: Work = {
  name: 'client-http',
  run: async (plan, say) => {
    const server = await startHttp(programOf(OURS_JSON, 'http'), argumentOf(OURS_JSON))
    const target = { url: `http://127.0.0.1:${server.port}/mcp`, pid: server.pid }
    try {
      return await compare('client tools/call over HTTP', target, plan, say)
    } finally {
      await server.close()
    }
  },
}

/** Calls through each client to a child that runs the same server; the limit is a bare pipe. */
export const clientStdio: Work = {
  name: 'client-stdio',
  run: (plan, say) => {
    const args = [programOf(OURS_JSON, 'stdio'), argumentOf(OURS_JSON)]
    const target = { command: process.execPath, args }
    return compare('client tools/call over stdio', target, plan, say)
  },
}

interface Contender {
  readonly subject: Subject
  readonly revision: Revision
}

/** Official v1 speaks no newer revision than 2025-11-25; it stands beside the others in both comparisons. */
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
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const results = await callAll(target, plan, say)
  return (['2026-07-28', '2025-11-25'] as const).flatMap((revision) =>
    [...results].flatMap(([key, rounds]) => {
      const contender = CONTENDERS.get(key)
      if (!contender || (contender.revision !== revision && contender.subject !== V1)) return []
      return toSamples(`${work}, ${revision}`, contender.subject, rounds)
    }),
  )
}

function toSamples(work: string, subject: Subject, rounds: readonly Watched[]): readonly Sample[] {
  const busy = mostly(rounds)
  const p50 = median(rounds.map((round) => round.p50))
  return [
    { work, subject, value: p50, unit: 'µs p50', better: 'less', busy },
    { work, subject, value: rateOf(rounds), unit: 'calls/s', better: 'more', busy },
  ]
}

type Watched = ClientRound & { readonly busy: boolean }

/** Every client has a process of its own, which is idle while another one is measured. */
async function callAll(
  target: ClientTarget,
  plan: Plan,
  say: (line: string) => void,
): Promise<ReadonlyMap<Subject, readonly Watched[]>> {
  const workers = new Map<Subject, Worker<ClientOrders>>()
  const once = async (subject: Subject, seconds: number): Promise<Watched> => {
    const worker = workers.get(subject)
    if (!worker) throw new Error(`${subject.name} is not running`)
    const disturbed = watchOthers()
    const round = await named(subject, worker.ask<ClientRound>('call', { seconds }))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
  try {
    for (const [subject, { revision }] of CONTENDERS) {
      const worker: Worker<ClientOrders> = startWorker('client')
      workers.set(subject, worker)
      const order = { subject: programOf(subject, 'client'), target, revision }
      await named(subject, worker.ask('open', order))
      await once(subject, plan.warmUp)
    }
    return await interleave([...CONTENDERS.keys()], plan.rounds, async (subject, number) => {
      const round = await once(subject, plan.seconds * SHARE)
      say(`round ${number + 1}: ${subject.name} ${round.p50} µs`)
      return round
    })
  } finally {
    await Promise.all([...workers.values()].map((worker) => worker.close()))
  }
}

/** A call takes a fraction of a millisecond, so part of a round holds enough of them. */
const SHARE = 0.4
