import { type Cost, type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadCommands } from '../load.ts'
import type { StreamRound, Transport } from '../load/streams.ts'
import type { Extent } from '../extent.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, mostlyBusy, rateOf } from '../measure.ts'
import type { Sent } from '../messages.ts'
import { LIMIT, OURS, type Subject, argumentOf, programOf } from '../subjects.ts'
import { withSubjectName } from './http.ts'

/** No peer serves TCP or WebSocket. */
const SUBJECTS: readonly Subject[] = [LIMIT, OURS]

/** 4 KB over TCP, from one call on one connection to 16 on each of 16; the limit is a bare socket with the same framing. */
export const tcp: Workload = {
  name: 'tcp',
  run: async (plan, log) => [
    ...(await compare('TCP tools/call, 4 KB in', { transport: 'tcp', sent: 'start' }, POINTS, plan, log)),
    ...(await compare(
      'TCP tools/call, 4 KB in and out',
      { transport: 'tcp', sent: 'echo' },
      [MANY],
      plan,
      log,
    )),
  ],
}

/** Calls over WebSocket; the limit is the library `ws` on a corked socket. */
export const ws: Workload = {
  name: 'ws',
  run: (plan, log) => compare('WebSocket tools/call', { transport: 'ws', sent: 'call' }, POINTS, plan, log),
}

interface Point {
  readonly connections: number
  readonly inFlight: number
}

const MANY: Point = { connections: 16, inFlight: 16 }
const POINTS: readonly Point[] = [{ connections: 1, inFlight: 1 }, { connections: 16, inFlight: 1 }, MANY]

async function compare(
  title: string,
  load: { readonly transport: Transport; readonly sent: Sent },
  points: readonly Point[],
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  for (const { connections, inFlight } of points) {
    const work = `${title}, ${connections} × ${inFlight}`
    const stage = await Stage.open(SUBJECTS, { ...load, connections })
    try {
      for (const subject of SUBJECTS) await stage.flood(subject, inFlight, { calls: plan.warmUp.wire })
      const results = await interleave(SUBJECTS, plan, async (subject, number) => {
        const round = await stage.flood(subject, inFlight, { seconds: plan.seconds })
        log(
          `${connections} × ${inFlight}, round ${number + 1}: ${subject.name} ${Math.round(round.count / round.seconds)} msg/s`,
        )
        return round
      })
      for (const [subject, rounds] of results)
        samples.push({
          work,
          subject,
          value: rateOf(rounds),
          unit: 'msg/s',
          better: 'more',
          busy: mostlyBusy(rounds),
        })
    } finally {
      await stage.close()
    }
  }
  return samples
}

/** A round, and whether other programs disturbed it. */
export type WatchedStream = StreamRound & Cost & { readonly busy: boolean }

/** Servers of one transport, and one process with the connections to all of them. */
export class Stage {
  readonly #load: Worker<LoadCommands>
  readonly #servers: ReadonlyMap<Subject, HttpServer>

  private constructor(load: Worker<LoadCommands>, servers: ReadonlyMap<Subject, HttpServer>) {
    this.#load = load
    this.#servers = servers
  }

  static async open(
    subjects: readonly Subject[],
    load: { readonly transport: Transport; readonly sent: Sent; readonly connections: number },
  ): Promise<Stage> {
    const servers = new Map<Subject, HttpServer>()
    const stage = new Stage(startWorker('load'), servers)
    try {
      for (const subject of subjects) {
        const file = programOf(subject, load.transport)
        const options = argumentOf(subject, { text: load.sent !== 'call' })
        const server = load.transport === 'stdio' ? undefined : await startHttp(file, options)
        if (server) servers.set(subject, server)
        const target = { ...load, file, options, port: server?.port ?? 0, pid: server?.pid ?? 0 }
        await withSubjectName(subject, stage.#load.ask('connect', { name: subject.name, target }))
      }
    } catch (error) {
      await stage.close()
      throw error
    }
    return stage
  }

  /** Keeps `inFlight` requests in flight on each connection. */
  flood(subject: Subject, inFlight: number, extent: Extent): Promise<WatchedStream> {
    return this.#watched(subject, 'flood', { name: subject.name, inFlight, extent })
  }

  /** Sends `rate` requests per second, regardless of the answers. */
  pace(subject: Subject, rate: number, extent: Extent): Promise<WatchedStream> {
    return this.#watched(subject, 'pace', { name: subject.name, rate, extent })
  }

  async close(): Promise<void> {
    await this.#load.close()
    await Promise.all([...this.#servers.values()].map((server) => server.close()))
  }

  async #watched(
    subject: Subject,
    name: 'flood' | 'pace',
    command: LoadCommands['flood'] | LoadCommands['pace'],
  ): Promise<WatchedStream> {
    const disturbed = watchOtherPrograms()
    const round = await withSubjectName(subject, this.#load.ask<StreamRound>(name, command))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
}
