import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ServerStore } from '../src/index.ts'
import { redis } from '../src/stores.ts'
import { checkChaosLogs, type ChaosReport } from './chaos-checker.ts'
import { Cluster, WORKERS, type ChaosExtent, type Kind } from './chaos-cluster.ts'
import { pause } from './chaos-messages.ts'
import { seeded } from './chaos-random.ts'
import { main } from './run.ts'

/** The longest pause between two faults. */
const PAUSE_MS = 3000
const PROGRESS_MS = 5000

/** How often each fault is chosen. */
const WEIGHTS: readonly (readonly [Kind, number])[] = [
  ['kill', 12],
  ['stop', 3],
  ['redis', 2],
  ['postgres', 2],
]

/** Harms processes and stores while clients use them; answers what the logs of the clients show. */
export async function chaos(
  extent: ChaosExtent,
  folder: string,
  report: (progress: string) => void = () => undefined,
): Promise<ChaosReport & { readonly crashes: readonly string[] }> {
  const cluster = new Cluster(extent, folder)
  const onSignal = (): void => void cluster.close().then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  const random = seeded(extent.seed)
  try {
    await cluster.start()
    const until = performance.now() + extent.minutes * 60_000
    let faults = 0
    const timer = setInterval(() => {
      const { accepted, visits } = cluster.news
      report(
        `${accepted} tasks accepted, ${visits} uses of sessions, ${faults} faults (${cluster.kills} kills)`,
      )
    }, PROGRESS_MS)
    try {
      faults += await eachKind(cluster, random)
      // Nodes begin most attempts themselves, so a worker may have to wait long for one.
      const isEnough = (): boolean =>
        cluster.kills >= extent.kills &&
        cluster.news.byWorkers > 0 &&
        (cluster.news.isDone || performance.now() > until)
      while (!cluster.isLate && !isEnough()) {
        await pause(random() * PAUSE_MS)
        await cluster.harm(choose(random), random)
        faults++
      }
      report('no more faults; clients read everything to the end')
      await cluster.settle()
    } finally {
      clearInterval(timer)
    }
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
    await cluster.close()
  }
  const logs = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const { tasks, sessions, kills } = extent
  const faults = { kills, nodeKills: 1, workerKills: 1, stops: 1, restarts: 1 }
  const least = {
    survivors: kills,
    resumptions: sessions,
    answers: sessions,
    drops: Math.ceil(sessions / 10),
  }
  // With few tasks, one of the workers may find none.
  const workers = tasks < 1000 ? 1 : WORKERS
  const expected = { tasks, sessions, workers, ...faults, ...least }
  const texts = logs.map((name) => readFileSync(join(folder, name), 'utf8'))
  return { ...checkChaosLogs(texts, expected), crashes: cluster.crashes }
}

/** Begins with each kind of fault, so that no run lacks one: also a node with the right time dies. Answers their number. */
async function eachKind(cluster: Cluster, random: () => number): Promise<number> {
  const isNode = (name: string): boolean => name.startsWith('node')
  const rounds = [
    [
      () => cluster.harm('kill', random, (name, shiftMs) => isNode(name) && shiftMs === 0),
      () => cluster.harm('kill', random, (name) => !isNode(name)),
    ],
    [() => cluster.harm('stop', random, isNode), () => cluster.harm('postgres', random)],
    [() => cluster.harm('redis', random)],
  ]
  for (const round of rounds) {
    if (cluster.isLate) break
    await pause((random() * PAUSE_MS) / 2)
    await Promise.all(round.map((harm) => harm()))
  }
  return rounds.flat().length
}

function choose(random: () => number): Kind {
  let left = random() * WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [kind, weight] of WEIGHTS) if ((left -= weight) < 0) return kind
  return 'kill'
}

const HELP = `npm run chaos -- [options]

Runs three nodes and two task workers on Redis and PostgreSQL behind a proxy, kills and stops them, restarts the stores, shifts the clocks of
two processes, breaks connections, and checks from the logs of the clients that nothing is lost, repeated, reordered or given to the wrong client.

  --tasks N        tasks that clients start (10000)
  --sessions N     sessions that clients open (2000)
  --kills N        processes that are killed; other faults come in between (60)
  --minutes N      how long faults happen at most, once enough processes were killed (30)
  --limit N        how many minutes everything takes at most; then clients give up (90)
  --seed N         chooses the faults, and what clients do (1)
  --task-store S   where tasks are: postgres, or redis if its driver keeps tasks (postgres)
  --keep           keeps the logs
`

/** `npm run chaos -- --tasks 10000 --sessions 2000` */
async function runChaos(): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    options: {
      tasks: text('10000'),
      sessions: text('2000'),
      kills: text('60'),
      minutes: text('30'),
      limit: text('90'),
      seed: text('1'),
      'task-store': text('postgres'),
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(HELP)
    return
  }
  const count = (name: 'tasks' | 'sessions' | 'kills' | 'minutes' | 'limit' | 'seed'): number => {
    const number = Number(values[name])
    if (values[name] !== '' && number >= 0) return number
    throw new Error(`--${name} must be a number, such as --${name} 10`)
  }
  const taskStore = values['task-store']
  if (taskStore !== 'postgres' && taskStore !== 'redis')
    throw new Error('--task-store must be postgres or redis')
  const onRedis: ServerStore = redis()
  if (taskStore === 'redis' && onRedis.tasks === undefined)
    throw new Error('redis keeps no tasks; use postgres')
  const [tasks, sessions, kills] = [count('tasks'), count('sessions'), count('kills')]
  const extent = {
    tasks,
    sessions,
    kills,
    minutes: count('minutes'),
    limitMinutes: count('limit'),
    seed: count('seed'),
    taskStore,
  } as const
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-chaos-'))
  const began = performance.now()
  const seconds = (): number => Math.round((performance.now() - began) / 1000)
  const { faults, crashes, ...counts } = await chaos(extent, folder, (progress) =>
    console.error(`${seconds()} s: ${progress}`),
  )
  console.log(`${JSON.stringify(counts)} in ${seconds()} s`)
  for (const crash of crashes) console.error(crash)
  for (const { fault, details } of faults.slice(0, 50)) console.error(`${fault}: ${details}`)
  if (faults.length + crashes.length > 0)
    throw new Error(`${faults.length + crashes.length} faults; the logs are in ${folder}`)
  if (values.keep) console.log(`the logs are in ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
  console.log('no task, event, answer or value was lost, repeated, reordered or given to the wrong client')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(runChaos)
