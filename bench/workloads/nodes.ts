import { once } from 'node:events'
import { connect } from 'node:net'
import { startRedis, type TestRedis } from '../../test/harness/redis.ts'
import { type HttpServer, startHttp, startWorker, type Worker } from '../children.ts'
import type { LoadCommands } from '../load.ts'
import type { Extent } from '../extent.ts'
import { openSession, post, type HttpRound } from '../load/http.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import { callText, numbered } from '../messages.ts'
import { OURS, OURS_IN_MEMORY, type Subject, argumentOf, programOf } from '../subjects.ts'
import { CONNECTIONS, loadAll } from './http.ts'
import { compareSessionCounts, optionsFor } from './sessions.ts'

const REQUESTS = 400

/** The round trips to Redis of a call whose session began at another node. */
export const redisTrips: Workload = {
  name: 'redis-trips',
  run: (_, log) =>
    withNodes(2, async ([one, two], redis) => {
      const { id = '', revision } = await openSession(one!.port)
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': revision }
      const call = async (server: HttpServer, index: number): Promise<void> => {
        const reply = await post(server.port, callText(numbered(index), '2025-11-25'), headers)
        if (!reply.ok) throw new Error(`a call was answered with ${reply.status}`)
        await reply.arrayBuffer()
      }
      await call(two!, 0)
      const commands = await countCommands(redis, async () => {
        for (let index = 1; index <= REQUESTS; index++) await call(index % 2 === 0 ? one! : two!, index)
      })
      const value = commands / REQUESTS
      log(`${commands} commands for ${REQUESTS} calls`)
      const work = 'HTTP tools/call at another node, sessions in Redis'
      return [{ work, subject: OURS, value, unit: 'round trips', better: 'less', busy: false }]
    }),
}

/** Calls of sessions in Redis, next to those of sessions in memory. */
export const nodeCalls: Workload = {
  name: 'redis-calls',
  run: (plan, log) =>
    withNodes(1, async ([shared]) => {
      const alone = await startHttp(programOf(OURS, 'http'), argumentOf(OURS_IN_MEMORY))
      try {
        const servers = new Map<Subject, HttpServer>([
          [OURS, shared!],
          [OURS_IN_MEMORY, alone],
        ])
        const target = { work: 'call', revision: '2025-11-25', connections: CONNECTIONS } as const
        const results = await loadAll(servers, target, plan, log)
        return [...results].map(([subject, rounds]): Sample => ({
          work: 'HTTP tools/call, sessions in Redis',
          subject,
          value: rateOf(rounds),
          unit: 'req/s',
          better: 'more',
          busy: mostlyBusy(rounds),
        }))
      } finally {
        await alone.close()
      }
    }),
}

/** The cost of a call with a growing number of sessions in Redis, as `many-sessions` measures it in memory. */
export const redisSessions: Workload = {
  name: 'many-redis-sessions',
  run: (plan, log) =>
    withNodes(
      1,
      ([ours], { url }) => {
        const redis = { url, prefix: 'bare' }
        return compareSessionCounts(ours!, plan, { place: 'in Redis', redis, log })
      },
      optionsFor(plan),
    ),
}

const NODE_COUNTS = [1, 2, 5, 10]
/** Each call takes 2 ms, and the code is short. */
const WARM_UP = 200

/** What the row of some nodes compares. */
export const scalingWork = (count: number): string =>
  `HTTP tools/call that uses 2 ms of CPU, sessions in Redis, ${count} nodes instead of one`

/** Calls that use 2 ms of CPU each, at one node and at several side by side; with all on one machine, its cores are the limit. */
export const scalingNodes: Workload = {
  name: 'scaling-nodes',
  run: (plan, log) =>
    withNodes(
      Math.max(...NODE_COUNTS),
      async (nodes) => {
        const load: Worker<LoadCommands> = startWorker('load')
        const target = { work: 'call', revision: '2025-11-25', connections: 8 } as const
        const once = async (count: number, extent: Extent): Promise<{ rate: number; busy: boolean }> => {
          const disturbed = watchOtherPrograms()
          const rounds = await Promise.all(
            nodes
              .slice(0, count)
              .map(({ port, pid }) =>
                load.ask<HttpRound>('http', { target: { ...target, port, pid }, extent }),
              ),
          )
          const serverCpuMs = rounds.reduce((sum, round) => sum + round.serverCpuMs, 0)
          // All rounds are those of one worker, so each has its whole processor time.
          const workerCpuMs = Math.max(...rounds.map((round) => round.workerCpuMs))
          const rate = rounds.reduce((sum, round) => sum + round.count / round.seconds, 0)
          return { rate, busy: disturbed(serverCpuMs + workerCpuMs) }
        }
        try {
          await once(nodes.length, { calls: WARM_UP })
          const counts = new Map<Subject, number>(
            NODE_COUNTS.map((count) => [{ ...OURS, name: `${count} nodes` }, count]),
          )
          const seen = await interleave([...counts.keys()], plan, (subject) =>
            once(counts.get(subject) ?? 1, { seconds: plan.seconds }),
          )
          const [first = [], ...others] = [...seen.values()]
          return others.map((rounds, at): Sample => {
            const work = scalingWork(NODE_COUNTS[at + 1] ?? 0)
            // Rounds follow each other, so each is compared with its neighbour: a disturbance affects both.
            const value = median(rounds.map(({ rate }, nth) => rate / (first[nth]?.rate ?? Number.NaN)))
            log(`${NODE_COUNTS[at + 1]} nodes: ${value.toFixed(2)} times one`)
            const busy = mostlyBusy(rounds)
            return { work, subject: OURS, value, unit: 'times one node', better: 'more', busy }
          })
        } finally {
          await load.close()
        }
      },
      { handler: 'burn' },
    ),
}

/** Runs an action with servers that share a Redis of their own. */
async function withNodes<Result>(
  count: number,
  act: (nodes: readonly HttpServer[], redis: TestRedis) => Promise<Result>,
  more: object = {},
): Promise<Result> {
  const redis = await startRedis()
  const nodes: HttpServer[] = []
  try {
    const options = { ...more, redis: { url: redis.url, prefix: 'bench' } }
    for (let at = 0; at < count; at++)
      nodes.push(await startHttp(programOf(OURS, 'http'), argumentOf(OURS, options)))
    return await act(nodes, redis)
  } finally {
    await Promise.all(nodes.map((node) => node.close()))
    await redis.close()
  }
}

const LAST = 'the last command'

/** Counts the commands that arrive at Redis, without those that its scripts run, and those of the registry and the bus. */
async function countCommands({ port, send }: TestRedis, act: () => Promise<void>): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  const seen = new Promise<void>((resolve) =>
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (text.includes(LAST)) resolve()
    }),
  )
  socket.write('MONITOR\r\n')
  await once(socket, 'data')
  await act()
  await send('ECHO', LAST)
  await seen
  socket.destroy()
  const commands = text.split('\r\n').filter((line) => /^\+[\d.]+ \[0 127/.test(line))
  return commands.filter((line) => !/"(xread|xrevrange|ping|echo)"|nodes/i.test(line)).length
}
