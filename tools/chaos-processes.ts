import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import type { ServerNews } from './chaos-server.ts'

/** Bundled CommonJS code needs `require`. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"

/** Bundles programs of this folder once, because they start often. They stay near `node_modules`. Answers their folder. */
export function bundle(names: readonly string[]): string {
  const parent = resolve('.cache/chaos')
  mkdirSync(parent, { recursive: true })
  const outdir = mkdtempSync(join(parent, 'programs-'))
  buildSync({
    entryPoints: names.map((name) => fileURLToPath(new URL(`${name}.ts`, import.meta.url))),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['pierhead-source'],
    external: ['pg-native'],
    banner: { js: REQUIRE },
  })
  return outdir
}

/** The pause before a process that could not start is started again. */
const RESTART_MS = 1000
/** How long a process may take to start. */
const START_MS = 60_000

/** Learns what happens to a process by itself. */
export interface VictimListener {
  onBegan(victim: Victim, pid: number): void
  /** It served, and then ended. */
  onExit(victim: Victim, code: number | null, pid: number): void
  /** It ended before it served. */
  onFailed(victim: Victim, pid: number): void
  onStood(victim: Victim, ms: number): void
}

/** A process that is killed and started again. */
export class Victim {
  readonly name: string
  /** How far its clock is ahead, in milliseconds. */
  readonly shiftMs: number
  readonly #file: string
  readonly #settings: string
  readonly #listener: VictimListener
  #child: ChildProcess | undefined
  #ready: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(name: string, file: string, settings: object, shiftMs: number, listener: VictimListener) {
    this.name = name
    this.#file = file
    this.#settings = JSON.stringify(settings)
    this.shiftMs = shiftMs
    this.#listener = listener
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Starts the process, and again if it cannot start because a store is away, as a supervisor does. */
  start(): void {
    if (this.#isOver || this.isRunning) return
    const child = fork(this.#file, [this.#settings], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--import', join(dirname(this.#file), 'chaos-clock.mjs')],
      env: { ...process.env, CHAOS_SHIFT: String(this.shiftMs) },
    })
    this.#child = child
    const pid = child.pid ?? 0
    this.#listener.onBegan(this, pid)
    let isReady = false
    this.#ready = once(child, 'message').then(() => void (isReady = true))
    // Nobody waits for a process that is killed while it starts.
    this.#ready.catch(() => undefined)
    child.on('message', (message) => {
      if (typeof message === 'object') this.#listener.onStood(this, (message as ServerNews).stood)
    })
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL') return
      if (isReady) this.#listener.onExit(this, code, pid)
      else if (!this.#isOver) {
        this.#listener.onFailed(this, pid)
        setTimeout(() => this.#child === child && this.start(), RESTART_MS)
      }
    })
  }

  /** Resolves once it serves. False if it has ended first, or does not serve in a long time. */
  async ready(): Promise<boolean> {
    const isReady = this.#ready.then(() => true)
    const isOver = this.isRunning ? once(this.#child as ChildProcess, 'exit').then(() => false) : false
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), START_MS)))
    try {
      return await Promise.race([isReady, isOver, isLate])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the process for good. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.kill()
  }

  /** Kills the process, if it runs; `onSent` is called then. */
  async kill(onSent: () => void = () => undefined): Promise<void> {
    if (!this.isRunning) return
    const child = this.#child as ChildProcess
    const exited = once(child, 'exit')
    if (child.kill('SIGKILL')) onSent()
    await exited
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }
}
