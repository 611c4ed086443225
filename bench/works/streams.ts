import { type Cost, type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadOrders } from '../load.ts'
import type { StreamRound, Transport } from '../load/streams.ts'
import { watchOthers } from '../machine.ts'
import { type Plan, type Sample, type Work, interleave, mostly, rateOf } from '../measure.ts'
import type { Sent } from '../messages.ts'
import { LIMIT, OURS, type Subject, argumentOf, programOf } from '../subjects.ts'
import { named } from './http.ts'

/** What is compared: no peer serves TCP or WebSocket. */
const SUBJECTS: readonly Subject[] = [LIMIT, OURS]

/** 4 KB over TCP, from one call on one connection to 16 on each of 16; the limit is a bare socket with the same framing. */
export const tcp: Work = {
  name: 'tcp',
  run: async (plan, say) => [
    ...(await compare('TCP tools/call, 4 KB in', { transport: 'tcp', sent: 'start' }, POINTS, plan, say)),
    ...(await compare(
      'TCP tools/call, 4 KB in and out',
      { transport: 'tcp', sent: 'echo' },
      [MANY],
      plan,
      say,
    )),
  ],
}

/** Calls over WebSocket; the limit is the library `ws` alone. */
export const ws: Work = {
  name: 'ws',
  run: (plan, say) => compare('WebSocket tools/call', { transport: 'ws', sent: 'call' }, POINTS, plan, say),
}

interface Point {
  readonly connections: number
  readonly inFlight: number
}

const MANY: Point = { connections: 16, inFlight: 16 }
const POINTS: readonly Point[] = [{ connections: 1, inFlight: 1 }, { connections: 16, inFlight: 1 }, MANY]

async function compare(
  title: string,
  what: { readonly transport: Transport; readonly sent: Sent },
  points: readonly Point[],
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  for (const { connections, inFlight } of points) {
    const work = `${title}, ${connections} × ${inFlight}`
    const stage = await Stage.open(SUBJECTS, { ...what, connections })
    try {
      for (const subject of SUBJECTS) await stage.flood(subject, inFlight, plan.warmUp)
      const results = await interleave(SUBJECTS, plan.rounds, async (subject, number) => {
        const round = await stage.flood(subject, inFlight, plan.seconds)
        say(
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
          busy: mostly(rounds),
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
  readonly #load: Worker<LoadOrders>
  readonly #servers: ReadonlyMap<Subject, HttpServer>

  private constructor(load: Worker<LoadOrders>, servers: ReadonlyMap<Subject, HttpServer>) {
    this.#load = load
    this.#servers = servers
  }

  static async open(
    subjects: readonly Subject[],
    what: { readonly transport: Transport; readonly sent: Sent; readonly connections: number },
  ): Promise<Stage> {
    const servers = new Map<Subject, HttpServer>()
    const stage = new Stage(startWorker('load'), servers)
    try {
      for (const subject of subjects) {
        const file = programOf(subject, what.transport)
        const options = argumentOf(subject, { text: what.sent !== 'call' })
        const server = what.transport === 'stdio' ? undefined : await startHttp(file, options)
        if (server) servers.set(subject, server)
        const target = { ...what, file, options, port: server?.port ?? 0, pid: server?.pid ?? 0 }
        await named(subject, stage.#load.ask('connect', { name: subject.name, target }))
      }
    } catch (error) {
      await stage.close()
      throw error
    }
    return stage
  }

  /** Keeps so many requests in flight on each connection. */
  flood(subject: Subject, inFlight: number, seconds: number): Promise<WatchedStream> {
    return this.#watched(subject, 'flood', { name: subject.name, inFlight, seconds })
  }

  /** Sends so many requests a second, whatever is answered. */
  pace(subject: Subject, rate: number, seconds: number): Promise<WatchedStream> {
    return this.#watched(subject, 'pace', { name: subject.name, rate, seconds })
  }

  async close(): Promise<void> {
    await this.#load.close()
    await Promise.all([...this.#servers.values()].map((server) => server.close()))
  }

  async #watched(
    subject: Subject,
    name: 'flood' | 'pace',
    order: LoadOrders['flood'] | LoadOrders['pace'],
  ): Promise<WatchedStream> {
    const disturbed = watchOthers()
    const round = await named(subject, this.#load.ask<StreamRound>(name, order))
    return { ...round, busy: disturbed(round.serverCpuMs + round.workerCpuMs) }
  }
}
