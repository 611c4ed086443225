import { resolve } from 'node:path'
import { startWorker, type Worker } from '../children.ts'
import { watchOtherPrograms } from '../machine.ts'
import { type Plan, type Sample, type Workload, interleave, median, mostlyBusy, rateOf } from '../measure.ts'
import { BULLMQ, LIMIT, OURS, type Subject, V1, selectSubjects } from '../subjects.ts'
import type { TaskCommands, TaskRound } from '../tasks.ts'
import { growthSamples } from '../growths.ts'
import { startRedis } from '../../test/harness/redis.ts'

/** A kind of store; `redis` is where a Redis is. */
type Store = 'memory' | 'sqlite' | `redis:${string}`

interface Round extends TaskRound {
  readonly workerCpuMs: number
  readonly busy: boolean
}

const titleOf = (store: Store): string =>
  store === 'memory' ? 'in memory' : store === 'sqlite' ? 'in SQLite' : 'in Redis'
/** Only a part of the calls that warm up others: each leaves a task behind. */
const WARM_UP_PART = 0.05
/** So few that a server with few tasks stays one. */
const CALLS = 200
const SLICES = 6

/** Tasks per second, each from the call to its result, and the cost of a call and of a poll with more and more tasks. */
export const tasks: Workload = {
  name: 'tasks',
  run: async (plan, log) => {
    const worker: Worker<TaskCommands> = startWorker('tasks')
    const redis = await startRedis()
    try {
      const samples: Sample[] = []
      for (const store of ['memory', 'sqlite', redis.url as `redis:${string}`] as const)
        samples.push(...(await rates(worker, store, plan, log)))
      for (const store of ['memory', 'sqlite'] as const)
        samples.push(...(await growth(worker, store, plan, log)))
      return samples
    } finally {
      await worker.close()
      await redis.close()
    }
  },
}

/** What is compared in each store: a bare map, table or queue, our server, and official v1, which keeps tasks only in memory. */
const SUBJECTS = { memory: [LIMIT, OURS, V1], sqlite: [LIMIT, OURS], redis: [BULLMQ, OURS] } as const

/** Tasks per second in one store. */
async function rates(
  worker: Worker<TaskCommands>,
  store: Store,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const subjects = selectSubjects(SUBJECTS[store === 'memory' || store === 'sqlite' ? store : 'redis'], plan)
  const held = Math.ceil(plan.warmUp.memory * WARM_UP_PART)
  for (const subject of subjects) await open(worker, subject.name, subject, store, held)
  const results = await interleave(subjects, plan, ({ name }) =>
    measure(worker, { name, work: 'call', extent: { seconds: plan.seconds } }),
  )
  return [...results].map(([subject, rounds]): Sample => {
    const value = rateOf(rounds)
    log(`${titleOf(store)}, ${subject.name}: ${Math.round(value)} tasks/s`)
    const work = `tasks ${titleOf(store)}, from the call to the result, 64 at once`
    return { work, subject, value, unit: 'tasks/s', better: 'more', busy: mostlyBusy(rounds) }
  })
}

/** A server with so many tasks. */
interface Filled {
  readonly subject: Subject
  readonly held: number
}

/** What a poll and a call cost with each number of tasks, here and with a bare map or table. Polls come first, because calls add tasks. */
async function growth(
  worker: Worker<TaskCommands>,
  store: Store,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const servers = new Map<Subject, Filled>()
  for (const held of plan.sessionCounts)
    for (const subject of [LIMIT, OURS])
      servers.set({ ...subject, name: `${subject.name}, ${tasksText(held)}` }, { subject, held })
  for (const [{ name }, { subject, held }] of servers) await open(worker, name, subject, store, held)
  const polls = await costs(worker, { store, work: 'poll', servers }, plan, log)
  return [...(await costs(worker, { store, work: 'call', servers }, plan, log)), ...polls]
}

function tasksText(held: number): string {
  return `${held.toLocaleString('en')} tasks`
}

const TITLES = { call: 'a task from the call to the result', poll: 'tasks/get' } as const

/** What a call or a poll costs more with many tasks than with few. In percent, both that of our server and that of the limit are parts of what our server takes with few. */
export function growthWork(work: 'call' | 'poll', store: Store): string {
  return `${TITLES[work]}, what it costs more with many tasks than with few, ${titleOf(store)}`
}

interface Growth {
  readonly store: Store
  readonly work: 'call' | 'poll'
  readonly servers: ReadonlyMap<Subject, Filled>
}

async function costs(
  worker: Worker<TaskCommands>,
  { store, work, servers }: Growth,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const title = TITLES[work]
  const brief = { ...plan, rounds: plan.rounds * SLICES }
  const results = await interleave([...servers.keys()], brief, async (server) => {
    const { subject, held } = servers.get(server) as Filled
    // Calls add tasks, so a server that should have few begins again.
    if (work === 'call' && held < CALLS * 10) await open(worker, server.name, subject, store, held)
    const calls = work === 'call' ? CALLS : CALLS * 10
    return measure(worker, { name: server.name, work, extent: { calls } })
  })
  const measured = [...results].map(([server, rounds]) => {
    const each = rounds.map(({ count, workerCpuMs }) => (workerCpuMs * 1000) / count)
    log(`${titleOf(store)}, ${server.name}: ${median(each).toFixed(1)} µs of CPU for ${title}`)
    return { ...(servers.get(server) as Filled), each, busy: mostlyBusy(rounds) }
  })
  const samples = measured.map(({ subject, held, each, busy }): Sample => {
    const name = `${title}, ${tasksText(held)} ${titleOf(store)}`
    return { work: name, subject, value: median(each), unit: 'µs CPU', better: 'less', busy }
  })
  const growths = growthSamples(growthWork(work, store), measured)
  for (const { subject, value, unit } of growths)
    log(`${titleOf(store)}, ${subject.name}: ${value.toFixed(2)} ${unit} more with many tasks`)
  return [...samples, ...growths]
}

async function open(
  worker: Worker<TaskCommands>,
  name: string,
  { file }: Subject,
  store: Store,
  held: number,
): Promise<void> {
  const subject = resolve('bench', 'subjects', `${file}-tasks.mjs`)
  await worker.ask('open', { name, subject, store, held })
}

async function measure(worker: Worker<TaskCommands>, command: TaskCommands['run']): Promise<Round> {
  const disturbed = watchOtherPrograms()
  const round = await worker.ask<TaskRound>('run', command)
  return { ...round, busy: disturbed(round.workerCpuMs) }
}
