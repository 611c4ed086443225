import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, appendFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildSync } from 'esbuild'
import { createApiKey, digestApiKey } from '../src/auth.ts'
import { checkCrashLog, type CrashLine, type CrashReport } from './crash-checker.ts'
import { look, runTask, type CrashClients } from './crash-clients.ts'
import { main } from './run.ts'

const SOURCE = fileURLToPath(new URL('crash-server.ts', import.meta.url))
const TOOLS = ['sturdy', 'keyed', 'fragile']
/** The longest life of a server that is killed, from when it is ready. */
const LIFE_MS = 1500
/** The part of the servers that die while they start, and within how long. */
const EARLY_PART = 0.2
const EARLY_MS = 600
/** The longest time that a task works. */
const WORK_MS = 1500
/** After the last kill, tasks wait for the lease of the dead server, and then run. */
const PATIENCE_MS = 180_000

/** How much a crash test does. */
export interface CrashExtent {
  readonly tasks: number
  readonly kills: number
  /** How many servers there are. Default: 1. */
  readonly servers?: number
}

/**
 * Kills servers again and again, one at a time, while clients use their tasks; answers what their log shows. The tasks are in a file in the folder,
 * or in the Redis of a URL.
 */
export async function crash(
  { tasks, kills, servers: count = 1 }: CrashExtent,
  folder: string,
  place: string = join(folder, 'tasks.db'),
): Promise<CrashReport> {
  const logFile = join(folder, 'clients.jsonl')
  writeFileSync(logFile, '')
  const log = (line: CrashLine): void => appendFileSync(logFile, `${JSON.stringify(line)}\n`)
  const apiKey = createApiKey()
  const digest = await digestApiKey(apiKey)
  const program = bundle()
  const ports = await freePorts(count)
  const servers = ports.map((port) => new CrashServer(program, [place, String(port), digest]))
  let until = Infinity
  const isOver = (): boolean => performance.now() > until
  const urls = ports.map((port) => `http://127.0.0.1:${port}/mcp`)
  const clients: CrashClients = { urls, apiKey, log, isOver }
  try {
    let isKilling = true
    const working = useTasks(clients, tasks, () => isKilling)
    for (let kill = 0; kill < kills; kill++) {
      const server = servers[Math.floor(Math.random() * count)] as CrashServer
      const isEarly = Math.random() < EARLY_PART
      if (!isEarly) await server.ready()
      await pause(Math.random() * (isEarly ? EARLY_MS : LIFE_MS))
      await server.kill()
      log({ event: 'kill' })
      server.start()
    }
    isKilling = false
    until = performance.now() + PATIENCE_MS
    const ids = await working
    // Outcomes stay as they are.
    for (const [task, id] of ids) await look(clients, task, id)
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    rmSync(dirname(program), { recursive: true, force: true })
  }
  const expected = { tasks, kills, survivors: kills, fragile: ['fragile'] }
  return checkCrashLog(readFileSync(logFile, 'utf8'), expected)
}

/** Runs tasks, at least so many and as long as servers are killed. Answers the ids of those that were accepted. */
async function useTasks(
  clients: CrashClients,
  atLeast: number,
  isKilling: () => boolean,
): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>()
  const running = new Set<Promise<void>>()
  let [begun, accepted] = [0, 0]
  while ((isKilling() || accepted < atLeast) && !clients.isOver()) {
    const task = begun++
    const done = runTask(clients, task, TOOLS[task % TOOLS.length] ?? '', Math.random() * WORK_MS).then(
      (id) => {
        running.delete(done)
        if (id !== undefined) ids.set(task, id)
      },
    )
    running.add(done)
    accepted = ids.size + running.size
    await pause(accepted < atLeast ? 5 + Math.random() * 40 : 200)
    accepted = ids.size
  }
  await Promise.all(running)
  return ids
}

/** The process that is killed. */
class CrashServer {
  readonly #file: string
  readonly #args: readonly string[]
  #child: ChildProcess
  #ready: Promise<void>

  constructor(file: string, args: readonly string[]) {
    this.#file = file
    this.#args = args
    this.#child = this.#fork()
    this.#ready = this.#started()
  }

  /** Resolves once the server listens. */
  ready(): Promise<void> {
    return this.#ready
  }

  start(): void {
    this.#child = this.#fork()
    this.#ready = this.#started()
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  #started(): Promise<void> {
    const child = this.#child
    const started = new Promise<void>((done, fail) => {
      child.once('message', () => done())
      child.once('exit', (code) => fail(new Error(`the server exited with ${code}`)))
    })
    // Nobody waits for a server that is killed while it starts.
    started.catch(() => {})
    return started
  }

  #fork(): ChildProcess {
    return fork(this.#file, this.#args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  }
}

/** Bundles the server once, because it starts often. It stays near `node_modules`, where it finds SQLite and Redis. */
function bundle(): string {
  const folder = resolve('.cache/crash')
  mkdirSync(folder, { recursive: true })
  const outfile = join(mkdtempSync(join(folder, 'server-')), 'server.mjs')
  buildSync({
    entryPoints: [SOURCE],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['bullmq', 'ioredis'],
    conditions: ['pierhead-source'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  })
  return outfile
}

/** Ports that nobody uses, all at once, so that they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const listening = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(listening.map((server) => once(server, 'listening')))
  const ports = listening.map((server) => (server.address() as { readonly port: number }).port)
  await Promise.all(listening.map((server) => once(server.close(), 'close')))
  return ports
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms))
}

/** `npm run crash -- --tasks 1000 --kills 50`, and for three servers that share a Redis also `--servers 3 --store redis://127.0.0.1:6379` */
async function runCrash(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '1000' },
      kills: { type: 'string', default: '50' },
      servers: { type: 'string', default: '1' },
      store: { type: 'string' },
    },
  })
  const extent = { tasks: Number(values.tasks), kills: Number(values.kills), servers: Number(values.servers) }
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-crash-'))
  const began = performance.now()
  const { faults, ...counts } = await crash(extent, folder, values.store)
  console.log(`${JSON.stringify(counts)} in ${Math.round((performance.now() - began) / 1000)} s`)
  for (const { fault, details } of faults) console.error(`${fault}: ${details}`)
  if (faults.length > 0) throw new Error(`${faults.length} faults; the log is in ${folder}`)
  rmSync(folder, { recursive: true, force: true })
  console.log('no accepted task was lost, none has two outcomes, and every client got its result')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(runCrash)
