import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createApiKey, digestApiKey } from '../src/auth.ts'
import type { ServerStore } from '../src/index.ts'
import { redis } from '../src/stores.ts'
import { freePort } from '../test/harness/free-port.ts'
import { startPostgres, type TestPostgres } from '../test/harness/postgres.ts'
import { startRedis, type TestRedis } from '../test/harness/redis.ts'
import { checkChaosLogs, type ChaosReport } from './chaos-checker.ts'
import type { ClientNews, ClientSettings } from './chaos-clients.ts'
import type { FaultLine } from './chaos-log.ts'
import { bundle, Victim } from './chaos-processes.ts'
import { ChaosProxy } from './chaos-proxy.ts'
import { seeded } from './chaos-random.ts'
import type { ServerSettings } from './chaos-server.ts'
import { main } from './run.ts'

/** How much a chaos test does. */
export interface ChaosExtent {
  readonly tasks: number
  readonly sessions: number
  /** Processes that are killed; other faults come in between. */
  readonly kills: number
  /** How long faults happen at most, once enough processes were killed. */
  readonly minutes: number
  readonly seed: number
  readonly taskStore: 'postgres' | 'redis'
}

const NODES = 3
const WORKERS = 2
const CALLERS = 8
const CLIENT_PROCESSES = 2
/** Tasks, and sessions, that a process with clients uses at once: a hundredth of all tasks, within these. */
const AT_ONCE = { least: 20, most: 40 }
/** How often each session is used. */
const VISITS = 4
const LEASE_MS = 4000
/** How long a process stands still: longer than its lease. */
const STOP_MS = LEASE_MS + 3000
const SHIFT_MS = 90_000
/** The longest pause between two faults. */
const PAUSE_MS = 3000
/** After the last fault, tasks wait for the leases of the dead, and then run. Clients give up if nothing at all ends for so long. */
const PATIENCE_MS = 240_000
const PROGRESS_MS = 5000

type Kind = FaultLine['kind']
/** How often each fault is chosen. */
const WEIGHTS: readonly (readonly [Kind, number])[] = [
  ['kill', 12],
  ['stop', 3],
  ['redis', 2],
  ['postgres', 2],
]

/** Everything that runs. `close` ends each process by its id. */
class Cluster {
  readonly folder: string
  readonly #extent: ChaosExtent
  readonly #programs = bundle(['chaos-server', 'chaos-clients', 'chaos-clock'])
  readonly #clients: { readonly child: ChildProcess; news: ClientNews }[] = []
  readonly #victims: Victim[] = []
  #redis: TestRedis | undefined
  #postgres: TestPostgres | undefined
  #proxy: ChaosProxy | undefined
  #isClosing = false
  /** Processes that ended by themselves. */
  readonly crashes: string[] = []

  constructor(extent: ChaosExtent, folder: string) {
    this.#extent = extent
    this.folder = folder
  }

  async start(): Promise<void> {
    const { seed, tasks, sessions } = this.#extent
    const keys = Array.from({ length: CALLERS }, () => createApiKey())
    const callers = keys.map(async (key, at) => [await digestApiKey(key), { sub: `caller-${at}` }] as const)
    this.#redis = await startRedis()
    this.#postgres = await startPostgres('fsync=on')
    const common: ServerSettings = {
      redis: this.#redis.url,
      postgres: this.#postgres.url,
      digests: Object.fromEntries(await Promise.all(callers)),
      leaseMs: LEASE_MS,
      log: join(this.folder, 'servers.log'),
      taskStore: this.#extent.taskStore,
    }
    const ports: number[] = []
    for (let node = 0; node < NODES; node++) {
      const port = await freePort()
      ports.push(port)
      this.#add(`node ${node + 1}`, { ...common, port }, node === 1 ? SHIFT_MS : 0)
    }
    for (let worker = 0; worker < WORKERS; worker++)
      this.#add(`worker ${worker + 1}`, common, worker === 1 ? -SHIFT_MS : 0)
    for (const victim of this.#victims) victim.start(this.#onExit)
    await Promise.all(this.#victims.map((victim) => victim.ready()))
    this.#proxy = new ChaosProxy(ports)
    const url = await this.#proxy.listen()
    const part = (all: number): number => Math.ceil(all / CLIENT_PROCESSES)
    for (let process = 0; process < CLIENT_PROCESSES; process++)
      this.#startClients({
        url,
        log: join(this.folder, `clients-${process + 1}.jsonl`),
        seed: seed * 1000 + process,
        from: process * 1_000_000,
        tasks: part(tasks),
        sessions: part(sessions),
        visits: VISITS,
        apiKeys: keys,
        atOnce: Math.min(Math.max(AT_ONCE.least, Math.round(tasks / 100)), AT_ONCE.most),
      })
  }

  get news(): ClientNews {
    const all = this.#clients.map(({ news }) => news)
    return {
      accepted: all.reduce((sum, { accepted }) => sum + accepted, 0),
      visits: all.reduce((sum, { visits }) => sum + visits, 0),
      progress: all.reduce((sum, { progress }) => sum + progress, 0),
      isDone: all.every(({ isDone }) => isDone),
      isIdle: all.every(({ isIdle }) => isIdle),
    }
  }

  /** Does something bad, and undoes it. */
  async harm(kind: Kind, random: () => number): Promise<void> {
    const victim = this.#victims[Math.floor(random() * this.#victims.length)] as Victim
    this.#log({ event: 'fault', kind, target: kind === 'kill' || kind === 'stop' ? victim.name : kind })
    if (kind === 'kill') {
      await victim.kill()
      // The others notice, or not, that it was away.
      await pause(random() * 1.5 * LEASE_MS)
      if (!this.#isClosing) victim.start(this.#onExit)
      // Some die again while they start.
      if (random() < 0.8) await victim.ready()
    } else if (kind === 'stop') {
      victim.signal('SIGSTOP')
      await pause(STOP_MS)
      victim.signal('SIGCONT')
    } else {
      const store = kind === 'redis' ? this.#redis : this.#postgres
      await store?.kill()
      await pause(random() * 3000)
      if (!this.#isClosing) await store?.restart()
    }
  }

  /** Lets clients stop, and read everything to the end. */
  async settle(): Promise<void> {
    await Promise.all(this.#victims.map((victim) => victim.ready()))
    const exits = this.#clients.map(async ({ child }) => child.exitCode ?? once(child, 'exit'))
    // On a slow machine, some tasks are left when the time for faults is over.
    await this.#until(() => this.news.isDone)
    this.#tell('stop')
    await this.#until(() => this.news.isIdle)
    this.#tell('drain')
    await this.#until(() => this.#clients.every(({ child }) => child.exitCode !== null))
    await Promise.all(exits)
  }

  /** Waits for the clients as long as they make progress, however slow the machine is. */
  async #until(isDone: () => boolean): Promise<void> {
    for (let [last, at] = [-1, 0]; !isDone(); await pause(100)) {
      const { progress } = this.news
      if (progress !== last) [last, at] = [progress, performance.now()]
      else if (performance.now() > at + PATIENCE_MS) return this.#tell('give up')
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const { child } of this.#clients) child.kill('SIGKILL')
    await Promise.all(this.#victims.map((victim) => victim.end()))
    await Promise.all([this.#proxy?.close(), this.#redis?.close(), this.#postgres?.close()])
    rmSync(this.#programs, { recursive: true, force: true })
  }

  #add(name: string, settings: ServerSettings, shiftMs: number): void {
    this.#victims.push(new Victim(name, join(this.#programs, 'chaos-server.mjs'), settings, shiftMs))
  }

  readonly #onExit = (name: string, code: number | null): void => {
    if (!this.#isClosing) this.crashes.push(`${name} ended with exit code ${code}`)
  }

  #startClients(settings: ClientSettings): void {
    const child = fork(join(this.#programs, 'chaos-clients.mjs'), [JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const news = { accepted: 0, visits: 0, progress: 0, isDone: false, isIdle: false }
    const entry: { readonly child: ChildProcess; news: ClientNews } = { child, news }
    child.on('message', (message) => (entry.news = message as ClientNews))
    child.once('exit', (code) => {
      entry.news = { ...entry.news, isDone: true, isIdle: true }
      if (code !== 0 && !this.#isClosing) this.crashes.push(`clients ended with exit code ${code}`)
    })
    this.#clients.push(entry)
  }

  #tell(what: 'stop' | 'drain' | 'give up'): void {
    for (const { child } of this.#clients) if (child.connected) child.send(what)
  }

  #log(line: FaultLine): void {
    appendFileSync(join(this.folder, 'faults.jsonl'), `${JSON.stringify({ ...line, at: Date.now() })}\n`)
  }
}

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
  let kills = 0
  try {
    await cluster.start()
    const until = performance.now() + extent.minutes * 60_000
    let faults = 0
    const timer = setInterval(() => {
      const { accepted, visits } = cluster.news
      report(`${accepted} tasks accepted, ${visits} uses of sessions, ${faults} faults (${kills} kills)`)
    }, PROGRESS_MS)
    while (kills < extent.kills || (!cluster.news.isDone && performance.now() < until)) {
      await pause(random() * PAUSE_MS)
      const kind = choose(random)
      await cluster.harm(kind, random)
      faults++
      if (kind === 'kill') kills++
    }
    report('no more faults; clients read everything to the end')
    await cluster.settle()
    clearInterval(timer)
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
    await cluster.close()
  }
  const logs = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  const { tasks, sessions } = extent
  const least = { survivors: extent.kills, resumptions: sessions, answers: sessions }
  const expected = { tasks, sessions, kills: extent.kills, ...least }
  const texts = logs.map((name) => readFileSync(join(folder, name), 'utf8'))
  return { ...checkChaosLogs(texts, expected), crashes: cluster.crashes }
}

function choose(random: () => number): Kind {
  let left = random() * WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [kind, weight] of WEIGHTS) if ((left -= weight) < 0) return kind
  return 'kill'
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

const HELP = `npm run chaos -- [options]

Runs three nodes and two task workers on Redis and PostgreSQL behind a proxy, kills and stops them, restarts the stores, shifts the clocks of
two processes, and checks from the logs of the clients that nothing is lost, repeated, reordered or given to the wrong client.

  --tasks N        tasks that clients start (10000)
  --sessions N     sessions that clients open (2000)
  --kills N        processes that are killed; other faults come in between (60)
  --minutes N      how long faults happen at most, once enough processes were killed (30)
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
  const count = (name: 'tasks' | 'sessions' | 'kills' | 'minutes' | 'seed'): number => {
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
