import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

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

/** A process that is killed and started again. */
export class Victim {
  readonly name: string
  readonly #file: string
  readonly #settings: string
  readonly #shiftMs: number
  #child: ChildProcess | undefined
  #ready: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(
    name: string,
    file: string,
    settings: object,
    /** How far its clock is ahead, in milliseconds. */
    shiftMs: number,
  ) {
    this.name = name
    this.#file = file
    this.#settings = JSON.stringify(settings)
    this.#shiftMs = shiftMs
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Starts the process, and again if it cannot start because a store is away, as a supervisor does. `onExit` is called if it ends by itself later. */
  start(onExit: (name: string, code: number | null) => void): void {
    if (this.#isOver || this.isRunning) return
    const child = fork(this.#file, [this.#settings], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--import', join(dirname(this.#file), 'chaos-clock.mjs')],
      env: { ...process.env, CHAOS_SHIFT: String(this.#shiftMs) },
    })
    this.#child = child
    let isReady = false
    this.#ready = once(child, 'message').then(() => void (isReady = true))
    // Nobody waits for a process that is killed while it starts.
    this.#ready.catch(() => undefined)
    child.once('exit', (code, signal) => {
      if (signal === 'SIGKILL') return
      if (isReady) onExit(this.name, code)
      else if (!this.#isOver) setTimeout(() => this.#child === child && this.start(onExit), RESTART_MS)
    })
  }

  /** Resolves once it serves, or has ended. */
  async ready(): Promise<void> {
    const ended = this.isRunning ? once(this.#child as ChildProcess, 'exit') : undefined
    await Promise.race([this.#ready, ended])
  }

  /** Ends the process for good. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.kill()
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return
    const exited = once(this.#child as ChildProcess, 'exit')
    this.#child?.kill('SIGKILL')
    await exited
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }
}
