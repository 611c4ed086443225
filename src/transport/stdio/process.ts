import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { afterMs } from '../io/timer.ts'
import { killOnExit, releaseKillable } from './kill-on-exit.ts'
import type { Launch } from './launch.ts'
import { createTree, type Tree } from './tree.ts'

/** How long to wait for output after a process exits: a process that it started may keep the pipe open. */
const SETTLE_MS = 200
const MAX_LOOKS = 10
/** How long the rest of a tree may take to exit by itself after its first process. */
const FOLLOW_MS = 100
const TERM_MS = 1000
const KILL_MS = 1000

/** How a process ended. */
export interface Ending {
  /** Text to follow "the server". */
  readonly how: string
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** Starts a program as the leader of a new process group; rejects when the system cannot. */
export function startProcess(launch: Launch, stderr: 'pipe' | 'inherit' | 'ignore'): Promise<ServerProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ['pipe', 'pipe', stderr],
      shell: false,
      detached: process.platform !== 'win32',
      windowsHide: true,
      windowsVerbatimArguments: launch.verbatim,
    })
    child.once('error', reject)
    child.once('spawn', () => resolve(new ServerProcess(child)))
  })
}

/** A running server and everything it starts. It is killed when this process exits, however that happens. */
export class ServerProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable | null
  /** Resolves when no more messages can be exchanged and all output has been read. */
  readonly finished: Promise<Ending>
  readonly #child: ChildProcess
  readonly #tree: Tree
  readonly #exited: Promise<unknown>
  #stopping: Promise<void> | undefined

  constructor(child: ChildProcess) {
    this.#child = child
    this.#tree = createTree(child)
    this.stdin = child.stdin as Writable
    this.stdout = child.stdout as Readable
    this.stderr = child.stderr
    child.on('error', ignore)
    this.#exited = new Promise((resolve) => child.once('exit', resolve))
    this.finished = new Promise((resolve) => this.#awaitEnd(resolve))
    killOnExit(this.#tree)
  }

  /** Ends the whole tree: closes stdin, then sends SIGTERM, then SIGKILL. Resolves when it is gone. */
  stop(graceMs: number): Promise<void> {
    return (this.#stopping ??= this.#stop(graceMs))
  }

  async #stop(graceMs: number): Promise<void> {
    const tree = this.#tree
    if (!this.stdin.destroyed) this.stdin.end()
    if (await this.#exitsWithin(graceMs)) await tree.gone(FOLLOW_MS)
    for (const [signal, ms] of [
      ['SIGTERM', TERM_MS],
      ['SIGKILL', KILL_MS],
    ] as const) {
      tree.signal(signal)
      await Promise.all([this.#exitsWithin(ms), tree.gone(ms)])
    }
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream?.destroy()
    this.#child.unref()
    releaseKillable(tree)
  }

  async #exitsWithin(ms: number): Promise<boolean> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return true
    let timer: ReturnType<typeof afterMs>
    const late = new Promise<false>((resolve) => (timer = afterMs(ms, () => resolve(false))))
    const exited = await Promise.race([this.#exited.then(() => true), late])
    clearTimeout(timer)
    return exited
  }

  #awaitEnd(finish: (ending: Ending) => void): void {
    const child = this.#child
    let timer: ReturnType<typeof afterMs>
    let looks = 0
    const done = (): void => {
      looks = Infinity
      clearTimeout(timer)
      finish({ how: this.#how(), exitCode: child.exitCode, signal: child.signalCode })
    }
    const soon = (): void => {
      if (looks < MAX_LOOKS) timer ??= afterMs(SETTLE_MS, look)
    }
    // If our own event loop was busy, older output is read only after this timer.
    const look = (): void => {
      const before = this.#bytesRead()
      setImmediate(() => {
        if (looks === Infinity) return
        const isStill = this.#bytesRead() === before && !this.stdout.isPaused()
        if (isStill || ++looks === MAX_LOOKS) return done()
        timer = afterMs(SETTLE_MS, look)
      })
    }
    child.once('exit', soon)
    child.once('close', done)
    this.stdout.once('end', soon)
    this.stdout.on('error', soon)
    this.stdin.on('error', soon)
    this.stderr?.on('error', ignore)
  }

  #bytesRead(): number {
    const { stdout, stderr } = this.#child as {
      stdout: Partial<Socket> | null
      stderr: Partial<Socket> | null
    }
    return (stdout?.bytesRead ?? 0) + (stderr?.bytesRead ?? 0)
  }

  #how(): string {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null) return `exited with code ${exitCode}`
    if (signalCode !== null) return `was killed by ${signalCode}`
    return this.stdout.readableEnded ? 'closed its output' : 'closed its input'
  }
}

function ignore(): void {}
