import { fork, type ChildProcess } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createApiKey, digestApiKey } from '../src/auth.ts'
import { freePort } from '../test/harness/free-port.ts'
import { startPostgres, type TestPostgres } from '../test/harness/postgres.ts'
import { startRedis, type TestRedis } from '../test/harness/redis.ts'
import type { ClientNews, ClientSettings } from './chaos-clients.ts'
import type { FaultLine, TargetLine } from './chaos-log.ts'
import { pause } from './chaos-messages.ts'
import { bundle, Victim, type VictimListener } from './chaos-processes.ts'
import { ChaosProxy, nodeName } from './chaos-proxy.ts'
import type { ServerSettings } from './chaos-server.ts'

/** How much a chaos test does. */
export interface ChaosExtent {
  readonly tasks: number
  readonly sessions: number
  /** Processes that are killed; other faults come in between. */
  readonly kills: number
  /** How long faults happen at most, once enough processes were killed. */
  readonly minutes: number
  /** How long everything takes at most. */
  readonly limitMinutes: number
  readonly seed: number
  readonly taskStore: 'postgres' | 'redis'
}

const NODES = 3
/** How many workers there are. */
export const WORKERS = 2
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
/** After the last fault, tasks wait for the leases of the dead, and then run. Clients give up if nothing at all ends for so long. */
const PATIENCE_MS = 240_000
/** How long clients may take to end when they are told to give up. */
const GIVING_UP_MS = 30_000

/** A kind of fault. */
export type Kind = FaultLine['kind']

interface ClientProcess {
  readonly child: ChildProcess
  news: ClientNews
  hasEnded: boolean
}

/** Everything that runs. `close` ends each process by its id. */
export class Cluster {
  readonly folder: string
  readonly #extent: ChaosExtent
  readonly #programs = bundle(['chaos-server', 'chaos-clients', 'chaos-clock'])
  readonly #clients: ClientProcess[] = []
  readonly #victims: Victim[] = []
  #redis: TestRedis | undefined
  #postgres: TestPostgres | undefined
  #proxy: ChaosProxy | undefined
  #stopped: string | undefined
  /** Processes that were killed. */
  kills = 0
  readonly #timers: NodeJS.Timeout[] = []
  #isClosing = false
  /** Whether everything takes too long. */
  isLate = false
  /** Processes that ended by themselves. */
  readonly crashes: string[] = []

  constructor(extent: ChaosExtent, folder: string) {
    this.#extent = extent
    this.folder = folder
  }

  async start(): Promise<void> {
    const { seed, tasks, sessions, limitMinutes } = this.#extent
    const limitMs = limitMinutes * 60_000
    this.#timers.push(
      setTimeout(() => this.#giveUp(`the run took longer than ${limitMinutes} minutes`), limitMs),
      setTimeout(() => this.#killClients(), limitMs + GIVING_UP_MS),
    )
    const keys = Array.from({ length: CALLERS }, () => createApiKey())
    const callers = keys.map(async (key, at) => [await digestApiKey(key), { sub: `caller-${at}` }] as const)
    this.#redis = await startRedis()
    this.#postgres = await startPostgres('fsync=on')
    const common: Omit<ServerSettings, 'name'> = {
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
      this.#add(nodeName(node), { ...common, port }, node === 1 ? SHIFT_MS : 0)
    }
    for (let worker = 0; worker < WORKERS; worker++)
      this.#add(`worker ${worker + 1}`, common, worker === 1 ? -SHIFT_MS : 0)
    for (const victim of this.#victims) victim.start()
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
      byWorkers: all.reduce((sum, { byWorkers }) => sum + byWorkers, 0),
      progress: all.reduce((sum, { progress }) => sum + progress, 0),
      isDone: all.every(({ isDone }) => isDone),
      isIdle: all.every(({ isIdle }) => isIdle),
    }
  }

  /** Does something bad, and undoes it. For processes, `isFit` says which ones may be chosen. */
  async harm(
    kind: Kind,
    random: () => number,
    isFit: (name: string, shiftMs: number) => boolean = () => true,
  ): Promise<void> {
    if (kind === 'redis' || kind === 'postgres') return this.#restart(kind, random() * 3000)
    const fit = this.#victims.filter(
      ({ isRunning, name, shiftMs }) =>
        isRunning && (kind === 'kill' || name !== this.#stopped) && isFit(name, shiftMs),
    )
    const victim = fit[Math.floor(random() * fit.length)]
    if (victim === undefined) return
    await (kind === 'kill' ? this.#kill(victim, random) : this.#stop(victim))
  }

  async #kill(victim: Victim, random: () => number): Promise<void> {
    const { name, pid } = victim
    const [awayMs, waits] = [random() * 1.5 * LEASE_MS, random() < 0.8]
    await victim.kill(() => {
      this.kills++
      this.#log({ event: 'fault', kind: 'kill', target: name, pid })
    })
    // The others notice, or not, that it was away.
    await pause(awayMs)
    if (this.#isClosing) return
    victim.start()
    const back = victim.ready().then((isReady) => isReady && this.#log({ event: 'back', target: name }))
    // Some die again while they start.
    if (waits) await back
  }

  async #stop(victim: Victim): Promise<void> {
    const { name } = victim
    this.#log({ event: 'fault', kind: 'stop', target: name })
    this.#stopped = name
    victim.signal('SIGSTOP')
    await pause(STOP_MS)
    victim.signal('SIGCONT')
    this.#stopped = undefined
    this.#log({ event: 'back', target: name })
  }

  async #restart(kind: 'redis' | 'postgres', awayMs: number): Promise<void> {
    const store = kind === 'redis' ? this.#redis : this.#postgres
    this.#log({ event: 'fault', kind, target: kind })
    await store?.kill()
    await pause(awayMs)
    if (this.#isClosing) return
    await store?.restart()
    this.#log({ event: 'back', target: kind })
  }

  /** Lets clients stop, and read everything to the end. */
  async settle(): Promise<void> {
    await Promise.all(this.#victims.map((victim) => victim.ready()))
    // On a slow machine, some tasks are left when the time for faults is over.
    await this.#until(() => this.news.isDone)
    this.#tell('stop')
    await this.#until(() => this.news.isIdle)
    this.#tell('drain')
    await this.#until(() => this.#clients.every(({ hasEnded }) => hasEnded))
  }

  /** Waits for the clients as long as they make progress, however slow the machine is. */
  async #until(isDone: () => boolean): Promise<void> {
    for (let [last, at] = [-1, performance.now()]; !isDone(); await pause(100)) {
      const { progress } = this.news
      if (progress !== last) [last, at] = [progress, performance.now()]
      else if (performance.now() > at + PATIENCE_MS) {
        this.#giveUp(`nothing ended for ${PATIENCE_MS / 60_000} minutes`)
        await pause(GIVING_UP_MS)
        this.#killClients()
      }
    }
  }

  #giveUp(reason: string): void {
    if (this.isLate) return
    this.isLate = true
    this.crashes.push(reason)
    this.#tellEnd()
  }

  #tellEnd(): void {
    for (const what of ['stop', 'drain', 'give up'] as const) this.#tell(what)
  }

  #killClients(): void {
    for (const { child } of this.#clients) child.kill('SIGKILL')
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#killClients()
    await Promise.all(this.#victims.map((victim) => victim.end()))
    await Promise.all([this.#proxy?.close(), this.#redis?.close(), this.#postgres?.close()])
    rmSync(this.#programs, { recursive: true, force: true })
  }

  #add(name: string, settings: Omit<ServerSettings, 'name'>, shiftMs: number): void {
    const file = join(this.#programs, 'chaos-server.mjs')
    this.#victims.push(new Victim(name, file, { ...settings, name }, shiftMs, this.#listener))
  }

  readonly #listener: VictimListener = {
    onBegan: ({ name: target, shiftMs }, pid) => this.#log({ event: 'began', target, pid, shiftMs }),
    onExit: ({ name: target }, code, pid) => {
      this.#log({ event: 'exited', target, pid })
      if (!this.#isClosing) this.crashes.push(`${target} ended with exit code ${code}`)
    },
    onFailed: ({ name: target }, pid) => this.#log({ event: 'exited', target, pid }),
    onStood: ({ name: target }, ms) => this.#log({ event: 'stood', target, ms }),
  }

  #startClients(settings: ClientSettings): void {
    const child = fork(join(this.#programs, 'chaos-clients.mjs'), [JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const news = { accepted: 0, visits: 0, byWorkers: 0, progress: 0, isDone: false, isIdle: false }
    const entry: ClientProcess = { child, news, hasEnded: false }
    child.on('message', (message) => (entry.news = message as ClientNews))
    child.once('exit', (code) => {
      entry.news = { ...entry.news, isDone: true, isIdle: true }
      entry.hasEnded = true
      if (code !== 0 && !this.#isClosing) this.crashes.push(`clients ended with exit code ${code}`)
    })
    this.#clients.push(entry)
    if (this.isLate) this.#tellEnd()
  }

  #tell(what: 'stop' | 'drain' | 'give up'): void {
    for (const { child } of this.#clients) if (child.connected) child.send(what)
  }

  #log(line: FaultLine | TargetLine): void {
    appendFileSync(join(this.folder, 'faults.jsonl'), `${JSON.stringify({ ...line, at: Date.now() })}\n`)
  }
}
