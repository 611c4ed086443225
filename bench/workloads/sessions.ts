import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadCommands } from '../load.ts'
import { watchOtherPrograms } from '../machine.ts'
import { growthSamples } from '../growths.ts'
import { type Plan, type Sample, type Workload, median, mostlyBusy } from '../measure.ts'
import {
  FASTMCP,
  LIMIT_SESSIONS,
  OURS,
  type Subject,
  TMCP,
  V1,
  V2,
  argumentOf,
  programOf,
} from '../subjects.ts'
import { usageOf } from '../usage.ts'
import { CONNECTIONS, loadAll, withSubjectName } from './http.ts'

const FIRST_SESSIONS = 100
const SLICES = 3

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

/** What a call costs more with many sessions than with few. */
export function sessionGrowthWork(place: SessionPlace): string {
  return `HTTP tools/call, what it costs more with many sessions than with few, ${place}`
}

export type SessionPlace = 'in memory' | 'in Redis'

/**
 * The cost of a call with a growing number of open sessions, here and with bare Node and a map; each call uses a different one. One process
 * listens on a port for each number of sessions, so that random differences in compilation and memory layout affect all of them equally.
 */
export const manySessions: Workload = {
  name: 'many-sessions',
  run: async (plan, log) => {
    const ours = await startHttp(programOf(OURS, 'http'), argumentOf(OURS, optionsFor(plan)))
    try {
      return await compareSessionCounts(ours, plan, { place: 'in memory', log })
    } finally {
      await ours.close()
    }
  },
}

/** The options of a server with so many sessions. */
export function optionsFor({ sessionCounts }: Plan): Readonly<Record<string, unknown>> {
  return { sessions: Math.max(...sessionCounts), listeners: sessionCounts.length, wide: 49 }
}

/** Compares the ports of our server and those of a bare one, each with another number of sessions. */
export async function compareSessionCounts(
  ours: HttpServer,
  plan: Plan,
  {
    place,
    redis,
    log,
  }: {
    readonly place: SessionPlace
    readonly redis?: object
    readonly log: (line: string) => void
  },
): Promise<readonly Sample[]> {
  const counts = plan.sessionCounts
  const bare = await startHttp(
    programOf(LIMIT_SESSIONS, 'http'),
    argumentOf(LIMIT_SESSIONS, { ...optionsFor(plan), ...(redis !== undefined && { redis }) }),
  )
  const load: Worker<LoadCommands> = startWorker('load')
  const servers = new Map<Subject, HttpServer>()
  const filled = new Map<Subject, { readonly subject: Subject; readonly held: number }>()
  try {
    for (const [index, held] of counts.entries())
      for (const [subject, server] of [
        [LIMIT_SESSIONS, bare],
        [OURS, ours],
      ] as const) {
        const port = server.ports[index] ?? 0
        await withSubjectName(subject, load.ask('sessionPool', { port, count: held }))
        const named = { ...subject, name: `${subject.name}, ${sessionsText(held)}` }
        servers.set(named, { ...server, port })
        filled.set(named, { subject, held })
      }
    const brief = { ...plan, rounds: plan.rounds * SLICES, seconds: plan.seconds / SLICES }
    // Each connection has sessions of its own: calls of the same session at the same time share work.
    const connections = Math.min(CONNECTIONS, ...counts)
    const target = { work: 'call', revision: '2025-11-25', connections, spread: true } as const
    const results = await loadAll(servers, target, brief, () => {}, { from: load })
    const measured = [...results].map(([named, rounds]) => {
      const each = rounds.map(({ count, serverCpuMs }) => (serverCpuMs * 1000) / count)
      log(`${place}, ${named.name}: ${median(each).toFixed(1)} µs of the server's CPU for a call`)
      return { ...filled.get(named)!, each, busy: mostlyBusy(rounds) }
    })
    const samples = measured.map(({ subject, held, each, busy }): Sample => {
      const work = `HTTP tools/call, ${sessionsText(held)} ${place}`
      return { work, subject, value: median(each), unit: 'µs CPU', better: 'less', busy }
    })
    const growths = growthSamples(sessionGrowthWork(place), measured)
    for (const { subject, value, unit } of growths)
      log(`${place}, ${subject.name}: ${value.toFixed(2)} ${unit} more with many sessions`)
    return [...samples, ...growths]
  } finally {
    await load.close()
    await bare.close()
  }
}

function sessionsText(held: number): string {
  return `${held.toLocaleString('en')} sessions`
}
