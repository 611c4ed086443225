import { resolve } from 'node:path'
import { startWorker, type Worker } from '../children.ts'
import { watchOtherPrograms } from '../machine.ts'
import {
  type Plan,
  type Sample,
  type Workload,
  increasePercent,
  interleave,
  median,
  mostlyBusy,
  rateOf,
} from '../measure.ts'
import { BULLMQ, LIMIT, OURS, type Subject, V1, selectSubjects } from '../subjects.ts'
import type { TaskCommands, TaskRound } from '../tasks.ts'
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

/** What a poll and a call cost with each number of tasks. Polls come first, because calls add tasks. */
async function growth(
  worker: Worker<TaskCommands>,
  store: Store,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const counts = new Map<Subject, number>(
    plan.sessionCounts.map((count) => [{ ...OURS, name: `${count.toLocaleString('en')} tasks` }, count]),
  )
  for (const [subject, count] of counts) await open(worker, subject.name, subject, store, count)
  const polls = await costs(worker, { store, work: 'poll', counts }, plan, log)
  return [...(await costs(worker, { store, work: 'call', counts }, plan, log)), ...polls]
}

const TITLES = { call: 'a task from the call to the result', poll: 'tasks/get' } as const

/** What a call or a poll costs more with many tasks than with few. */
export function growthWork(work: 'call' | 'poll', store: Store): string {
  return `${TITLES[work]}, what it costs more with many tasks than with few, ${titleOf(store)}`
}

interface Growth {
  readonly store: Store
  readonly work: 'call' | 'poll'
  readonly counts: ReadonlyMap<Subject, number>
}

async function costs(
  worker: Worker<TaskCommands>,
  { store, work, counts }: Growth,
  plan: Plan,
  log: (line: string) => void,
): Promise<readonly Sample[]> {
  const title = TITLES[work]
  const brief = { ...plan, rounds: plan.rounds * SLICES }
  const results = await interleave([...counts.keys()], brief, async (subject) => {
    const held = counts.get(subject) ?? 0
    // Calls add tasks, so a server that should have few begins again.
    if (work === 'call' && held < CALLS * 10) await open(worker, subject.name, subject, store, held)
    return measure(worker, {
      name: subject.name,
      work,
      extent: { calls: work === 'call' ? CALLS : CALLS * 10 },
    })
  })
  const series = [...results].map(([{ name }, rounds]) => {
    const each = rounds.map(({ count, workerCpuMs }) => (workerCpuMs * 1000) / count)
    log(`${titleOf(store)}, ${name}: ${median(each).toFixed(1)} µs of CPU for ${title}`)
    return each
  })
  const common = { subject: OURS, better: 'less' } as const
  const samples = [...results].map(([{ name }, rounds], index): Sample => {
    const value = median(series[index] ?? [])
    return {
      ...common,
      work: `${title}, ${name} ${titleOf(store)}`,
      value,
      unit: 'µs CPU',
      busy: mostlyBusy(rounds),
    }
  })
  const busy = samples.some((sample) => sample.busy)
  return [
    ...samples,
    { ...common, work: growthWork(work, store), value: increasePercent(series), unit: '%', busy },
  ]
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
