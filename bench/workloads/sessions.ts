import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadCommands } from '../load.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, median, mostlyBusy, increasePercent } from '../measure.ts'
import { FASTMCP, OURS, type Subject, TMCP, V1, V2, argumentOf, programOf } from '../subjects.ts'
import { usageOf } from '../usage.ts'
import { CONNECTIONS, loadAll, withSubjectName } from './http.ts'

const FIRST_SESSIONS = 100

/** The memory of an idle 2025 session on a server with 50 tools of ten fields. */
export const idleSessions: Workload = {
  name: 'sessions',
  run: async (plan, log) => {
    const load: Worker<LoadCommands> = startWorker('load')
    const samples: Sample[] = []
    try {
      for (const subject of [OURS, V1, V2, TMCP, FASTMCP]) {
        const options = argumentOf(subject, { add: false, wide: 50 })
        const server = await startHttp(programOf(subject, 'http'), options)
        try {
          await withSubjectName(subject, load.ask('sessions', { port: server.port, count: FIRST_SESSIONS }))
          const { heap: before } = await server.memory()
          const disturbed = watchOtherPrograms()
          const cpuBefore = usageOf(server.pid).cpuMs
          const command = { port: server.port, count: plan.sessions }
          const { workerCpuMs } = await withSubjectName(subject, load.ask<object>('sessions', command))
          const busy = disturbed(usageOf(server.pid).cpuMs - cpuBefore + workerCpuMs)
          const value = ((await server.memory()).heap - before) / plan.sessions / 1000
          log(`${subject.name} ${value.toFixed(1)} KB`)
          const work = 'idle 2025 session, 50 tools'
          samples.push({ work, subject, value, unit: 'KB', better: 'less', busy })
        } finally {
          await server.close()
        }
      }
    } finally {
      await load.close()
    }
    return samples
  },
}

const SLICES = 3

/**
 * The cost of a call with a growing number of open sessions; each call uses a different one. One process listens on a port
 * for each number of sessions, so that random differences in compilation and memory layout affect all of them equally.
 */
export const manySessions: Workload = {
  name: 'many-sessions',
  run: async (plan, log) => {
    const counts = plan.sessionCounts
    const options = { sessions: Math.max(...counts), listeners: counts.length, wide: 49 }
    const server = await startHttp(programOf(OURS, 'http'), argumentOf(OURS, options))
    const load: Worker<LoadCommands> = startWorker('load')
    try {
      for (const [index, count] of counts.entries())
        await withSubjectName(OURS, load.ask('sessionPool', { port: server.ports[index] ?? 0, count }))
      return await compareSessionPools(load, server, plan, { place: 'held', log })
    } finally {
      await load.close()
      await server.close()
    }
  },
}

/** Compares the pools of sessions that were opened at the ports of a server; `place` says in the rows where sessions are. */
export async function compareSessionPools(
  load: Worker<LoadCommands>,
  server: HttpServer,
  plan: Plan,
  { place, log }: { readonly place: 'held' | 'in Redis'; readonly log: (line: string) => void },
): Promise<readonly Sample[]> {
  const servers = new Map<Subject, HttpServer>(
    plan.sessionCounts.map((count, index) => [
      { ...OURS, name: `${count.toLocaleString('en')} sessions` },
      { ...server, port: server.ports[index] ?? 0 },
    ]),
  )
  const brief = { ...plan, rounds: plan.rounds * SLICES, seconds: plan.seconds / SLICES }
  const target = { work: 'call', revision: '2025-11-25', connections: CONNECTIONS, spread: true } as const
  const results = await loadAll(servers, target, brief, () => {}, { from: load })
  const costs = [...results].map(([{ name }, rounds]) => {
    const each = rounds.map(({ count, serverCpuMs }) => (serverCpuMs * 1000) / count)
    log(`${name}: ${median(each).toFixed(1)} µs of the server's CPU for a call`)
    return each
  })
  const samples = [...results].map(([{ name }, rounds], index): Sample => {
    const work = `HTTP tools/call, ${name} ${place}`
    const value = median(costs[index] ?? [])
    return { work, subject: OURS, value, unit: 'µs server CPU', better: 'less', busy: mostlyBusy(rounds) }
  })
  const many = place === 'held' ? 'many sessions' : `many sessions ${place}`
  const work = `HTTP tools/call, what a call costs more with ${many} than with few`
  const busy = samples.some((sample) => sample.busy)
  return [...samples, { work, subject: OURS, value: increasePercent(costs), unit: '%', better: 'less', busy }]
}
