import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { afterMs } from '../io/timer.ts'
import { killOnExit, releaseKillable } from './kill-on-exit.ts'
import type { Launch } from './launch.ts'
import { createTree, type Tree } from './tree.ts'

/** How long output may still come after a process is gone: a process that it left behind may hold the pipe open. */
const SETTLE_MS = 200
const MAX_LOOKS = 10
/** What a tree gets for ending by itself once its first process has. */
const FOLLOW_MS = 100
const TERM_MS = 1000
const KILL_MS = 1000

/** How a process became useless. */
export interface Ending {
  /** In words, to follow "the server". */
  readonly how: string
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** Starts a program as the leader of a group of its own; rejects when the system cannot. */
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

/** A running server and whatever it starts. It ends with us, however we end. */
export class ServerProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable | null
  /** Resolves when nothing can be said to it or heard from it any more, and all that it said was read. */
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
    this.finished = new Promise((resolve) => this.#watch(resolve))
    killOnExit(this.#tree)
  }

  /** Ends the whole tree: asks by closing stdin, then firmly, then by force. Resolves when it is gone. */
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

  #watch(finish: (ending: Ending) => void): void {
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
    // When we were busy ourselves, what was said long ago is read only after this timer.
    const look = (): void => {
      const before = this.#bytesRead()
      setImmediate(() => {
        if (looks === Infinity) return
        if (this.#bytesRead() === before || ++looks === MAX_LOOKS) return done()
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
    if (exitCode !== null) return `ended with exit code ${exitCode}`
    if (signalCode !== null) return `was ended by ${signalCode}`
    return this.stdout.readableEnded ? 'closed its output' : 'closed its input'
  }
}

function ignore(): void {}
