import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { PingResult, HeldCommands, HeldTransport } from '../held-sessions.ts'
import type { Plan, Sample, Workload } from '../measure.ts'
import { watchOtherPrograms } from '../machine.ts'
import { LIMIT, OURS, type Subject, argumentOf, programOf } from '../subjects.ts'
import { startRedis } from '../../test/harness/redis.ts'
import { usageOf } from '../usage.ts'

/** The number of servers, and of client processes: a process may have only 20,000 open files. */
const PROCESSES = 3
/** The sessions opened before the measurement, so that loading and compiling code does not count. */
const FIRST = 200

/** Sessions held over TCP. */
export const heldTcp: Workload = { name: 'held-tcp', run: (plan, log) => hold('tcp', 'TCP', plan, log) }

/** Sessions held over WebSocket. */
export const heldWs: Workload = { name: 'held-ws', run: (plan, log) => hold('ws', 'WebSocket', plan, log) }

/** Streamable HTTP sessions of 2025-11-25, each held with its stream from the server. */
export const heldSse: Workload = { name: 'held-sse', run: (plan, log) => hold('sse', 'SSE', plan, log) }

const NODES = 10

/** Connections held over ten nodes that share a Redis, each with its own clients. */
export const heldNodes: Workload = {
  name: 'held-nodes',
  run: async (plan, log) => {
    const redis = await startRedis()
    try {
      const extent = {
        each: Math.ceil(plan.held.nodes / NODES),
        seconds: plan.held.seconds,
        processes: NODES,
        redis: { url: redis.url, prefix: 'held' },
      }
      const { answered, kilobytes, busy } = await holdOnce(OURS, 'tcp', extent)
      log(`${answered} of ${plan.held.nodes} answered a last ping, ${kilobytes.toFixed(1)} KB each`)
      const work = 'connections held over ten nodes'
      return [
        { work, subject: OURS, value: answered, unit: 'answered', better: 'more', busy },
        { work, subject: OURS, value: kilobytes, unit: 'KB', better: 'less', busy },
      ]
    } finally {
      await redis.close()
    }
  },
}

const SUBSCRIPTIONS = 100

/** The memory of a session that is subscribed to resources and waits for an answer. */
export const heldBusy: Workload = {
  name: 'held-busy',
  run: async (plan, log) => {
    const each = Math.ceil(plan.held.busy / PROCESSES)
    const { kilobytes, busy } = await holdOnce(OURS, 'tcp', {
      each,
      seconds: 0,
      subscriptions: SUBSCRIPTIONS,
    })
    log(`${kilobytes.toFixed(1)} KB each`)
    const work = `session held over TCP with ${SUBSCRIPTIONS} subscriptions and a call that waits`
    return [{ work, subject: OURS, value: kilobytes, unit: 'KB', better: 'less', busy }]
  },
}

interface Sum {
  readonly answered: number
  readonly kilobytes: number
  readonly busy: boolean
}

/** Opens sessions, holds them for a while, and counts those that answer a last ping; then does the same with a bare server. */
async function hold(
  transport: HeldTransport,
  title: string,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const each = Math.ceil(plan.held[transport] / PROCESSES)
  const samples: Sample[] = []
  for (const subject of [OURS, LIMIT]) {
    const seconds = subject === OURS ? plan.held.seconds : 0
    const { answered, kilobytes, busy } = await holdOnce(subject, transport, { each, seconds })
    log(
      `${subject.name}: ${answered} answered a last ping after ${seconds} s, ${kilobytes.toFixed(1)} KB each`,
    )
    const work = `sessions held over ${title}`
    samples.push({ work, subject, value: answered, unit: 'answered', better: 'more', busy })
    samples.push({ work, subject, value: kilobytes, unit: 'KB', better: 'less', busy })
  }
  return samples
}

interface HoldExtent {
  /** The number of sessions of each process. */
  readonly each: number
  readonly seconds: number
  readonly subscriptions?: number
  /** The number of servers, and of client processes. */
  readonly processes?: number
  /** The Redis that makes the servers nodes. */
  readonly redis?: { readonly url: string; readonly prefix: string } | undefined
}

async function holdOnce(
  subject: Subject,
  transport: HeldTransport,
  { each, seconds, subscriptions, processes = PROCESSES, redis }: HoldExtent,
): Promise<Sum> {
  const pairs = await Promise.all(
    Array.from({ length: processes }, () => openPair(subject, transport, { redis })),
  )
  let cpuMs = 0
  const askAll = async <Result>(
    name: keyof HeldCommands,
    valueFor: (pair: Pair) => HeldCommands[keyof HeldCommands],
  ): Promise<readonly Result[]> => {
    const replies = await Promise.all(pairs.map((pair) => pair.clients.ask<Result>(name, valueFor(pair))))
    cpuMs += sumOf(replies.map(({ workerCpuMs }) => workerCpuMs))
    return replies
  }
  const openAll = (count: number): Promise<unknown> =>
    askAll('open', ({ server }) => ({ transport, port: server.port, count }))
  const serverCpuMs = (): number => sumOf(pairs.map(({ server }) => usageOf(server.pid).cpuMs))
  const residentBytes = async (): Promise<number> =>
    sumOf(await Promise.all(pairs.map(async ({ server }) => (await server.memory()).rss)))
  try {
    const first = Math.min(FIRST, Math.ceil(each / 10))
    await openAll(first)
    cpuMs = -serverCpuMs()
    const disturbed = watchOtherPrograms()
    const before = await residentBytes()
    await openAll(each - first)
    if (subscriptions !== undefined) await askAll('makeBusy', () => ({ subscriptions }))
    const after = await residentBytes()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    const alive = await askAll<PingResult>('ping', () => ({}))
    return {
      answered: sumOf(alive.map(({ answered }) => answered)),
      kilobytes: (after - before) / (each - first) / processes / 1000,
      busy: disturbed(cpuMs + serverCpuMs()),
    }
  } finally {
    await Promise.all(pairs.map(({ clients }) => clients.close()))
    await Promise.all(pairs.map(({ server }) => server.close()))
  }
}

interface Pair {
  readonly server: HttpServer
  readonly clients: Worker<HeldCommands>
}

async function openPair(
  subject: Subject,
  transport: HeldTransport,
  more: Pick<HoldExtent, 'redis'>,
): Promise<Pair> {
  const file = transport === 'sse' && subject === LIMIT ? 'limit-held' : subject.file
  const program = programOf({ ...subject, file }, transport === 'sse' ? 'http' : transport)
  const server = await startHttp(
    program,
    argumentOf(subject, { change: true, wait: true, sessions: 20_000, ...more }),
  )
  return { server, clients: startWorker('held-sessions') }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
