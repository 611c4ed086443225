import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { Alive, HeldOrders, HeldTransport } from '../held.ts'
import type { Plan, Sample, Work } from '../measure.ts'
import { LIMIT, OURS, type Subject, argumentOf, programOf } from '../subjects.ts'

/** Servers, and as many processes with clients: one process may have 20,000 open files here. */
const PROCESSES = 3
/** What the first sessions load and compile is not charged to the others. */
const FIRST = 200

/** Sessions held over TCP. */
export const heldTcp: Work = { name: 'held-tcp', run: (plan, say) => hold('tcp', 'TCP', plan, say) }

/** Sessions held over WebSocket. */
export const heldWs: Work = { name: 'held-ws', run: (plan, say) => hold('ws', 'WebSocket', plan, say) }

/** Streamable HTTP sessions of 2025-11-25, held each with its stream from the server. */
export const heldSse: Work = { name: 'held-sse', run: (plan, say) => hold('sse', 'SSE', plan, say) }

const SUBSCRIPTIONS = 100

/** What a session costs that follows resources and waits for an answer. */
export const heldBusy: Work = {
  name: 'held-busy',
  run: async (plan, say) => {
    const each = Math.ceil(plan.held.busy / PROCESSES)
    const { kilobytes } = await holdOnce(OURS, 'tcp', { each, seconds: 0, subscriptions: SUBSCRIPTIONS })
    say(`${kilobytes.toFixed(1)} KB each`)
    const work = `session held over TCP with ${SUBSCRIPTIONS} subscriptions and a call that waits`
    return [{ work, subject: OURS, value: kilobytes, unit: 'KB', better: 'less' }]
  },
}

interface Sum {
  readonly answered: number
  readonly kilobytes: number
}

/** Opens sessions, keeps them for a while, and counts those that answer a last ping; then the same with a bare server. */
async function hold(
  transport: HeldTransport,
  title: string,
  plan: Plan,
  say: (line: string) => void,
): Promise<readonly Sample[]> {
  const each = Math.ceil(plan.held[transport] / PROCESSES)
  const samples: Sample[] = []
  for (const subject of [OURS, LIMIT]) {
    const seconds = subject === OURS ? plan.held.seconds : 0
    const { answered, kilobytes } = await holdOnce(subject, transport, { each, seconds })
    say(
      `${subject.name}: ${answered} answered a last ping after ${seconds} s, ${kilobytes.toFixed(1)} KB each`,
    )
    const work = `sessions held over ${title}`
    samples.push({ work, subject, value: answered, unit: 'answered', better: 'more' })
    samples.push({ work, subject, value: kilobytes, unit: 'KB', better: 'less' })
  }
  return samples
}

async function holdOnce(
  subject: Subject,
  transport: HeldTransport,
  {
    each,
    seconds,
    subscriptions,
  }: { readonly each: number; readonly seconds: number; readonly subscriptions?: number },
): Promise<Sum> {
  const pairs = await Promise.all(Array.from({ length: PROCESSES }, () => openPair(subject, transport)))
  const openAll = (count: number): Promise<unknown> =>
    Promise.all(
      pairs.map(({ server, clients }) => clients.ask('open', { transport, port: server.port, count })),
    )
  const residentBytes = async (): Promise<number> =>
    sumOf(await Promise.all(pairs.map(async ({ server }) => (await server.memory()).rss)))
  try {
    const first = Math.min(FIRST, Math.ceil(each / 10))
    await openAll(first)
    const before = await residentBytes()
    await openAll(each - first)
    if (subscriptions !== undefined)
      await Promise.all(pairs.map(({ clients }) => clients.ask('burden', { subscriptions })))
    const after = await residentBytes()
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    const alive = await Promise.all(pairs.map(({ clients }) => clients.ask<Alive>('ping', {})))
    return {
      answered: sumOf(alive.map(({ answered }) => answered)),
      kilobytes: (after - before) / (each - first) / PROCESSES / 1000,
    }
  } finally {
    await Promise.all(pairs.map(({ clients }) => clients.close()))
    await Promise.all(pairs.map(({ server }) => server.close()))
  }
}

interface Pair {
  readonly server: HttpServer
  readonly clients: Worker<HeldOrders>
}

async function openPair(subject: Subject, transport: HeldTransport): Promise<Pair> {
  const file = transport === 'sse' && subject === LIMIT ? 'limit-held' : subject.file
  const program = programOf({ ...subject, file }, transport === 'sse' ? 'http' : transport)
  const server = await startHttp(program, argumentOf(subject, { change: true, wait: true, sessions: 20_000 }))
  return { server, clients: startWorker('held') }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
