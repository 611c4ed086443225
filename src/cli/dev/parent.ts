import cluster, { type Worker } from 'node:cluster'
import { Socket } from 'node:net'
import { relative } from 'node:path'
import { createInterface } from 'node:readline'
import { App, McpError, type Running } from 'pierhead'
import { Deferred } from '../../base/deferred.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { changedLists, fromMessage, toMessage, type Digests, type WorkerMessage } from './messages.ts'
import { MovedStreams } from './moved-streams.ts'
import { Reloads, type DevOptions } from './reloads.ts'
import { endedEarly, notInTime, shownError, type ShownError } from './shown-error.ts'

/** After this long, somebody may wonder what a program does. */
const SLOW_MS = 5_000

/** Runs a program in another process, and replaces that when a file changes. Ends with Ctrl-C. */
export async function serveWithReloads(options: DevOptions): Promise<ExitCode> {
  const parent = new DevParent(options)
  try {
    return await parent.run()
  } finally {
    await parent.close()
  }
}

/** A program that serves. */
interface Ready {
  readonly worker: Worker
  readonly digests: Digests
}

class DevParent {
  readonly #options: DevOptions
  readonly #reloads: Reloads
  readonly #app: App
  #running: Running | undefined
  /** Settles when the program that was started last serves, or does not; undefined if that is known. */
  #next: Deferred<Ready> | undefined
  /** The processes that were there before the last start, or were given up. How they end concerns nobody. */
  readonly #former = new WeakSet<Worker>()
  /** The processes that take requests. */
  readonly #listening = new WeakSet<Worker>()
  /** The processes that serve, or have served and are about to end. */
  readonly #ready = new Set<Worker>()
  readonly #streams = new MovedStreams()
  #digests: Digests | undefined
  /** Why the last program did not start, if it could say so. */
  #lastError: ShownError | undefined
  #hasAnnounced = false
  readonly #fatal = new Deferred<never>()
  readonly #killAll = (): void => {
    this.#reloads.stopTypes()
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  }

  constructor(options: DevOptions) {
    this.#options = options
    const { io, log, startMs } = options
    this.#reloads = new Reloads(options, {
      start: () => this.#start(),
      abandon: () => this.#abandon(),
      failed: (error) => this.#showFailure(error),
      isClosing: () => io.signal.aborted,
    })
    this.#app = new App({
      name: 'pierhead-dev',
      version: '1.0.0',
      log: (_level, message) =>
        log.add({ event: 'warning', message: message.replace(/^worker \d+/, 'the program') }),
    })
    this.#fatal.promise.catch(() => undefined)
    const launcher = { worker: { startMs }, listen: (_: object, given: object) => given }
    Object.assign(globalThis, { [Symbol.for('pierhead.launcher')]: launcher })
    // What the program prints must not mix with lines of JSON on stdout.
    cluster.setupPrimary({ stdio: ['ignore', 2, 2, 'ipc'] } as never)
    cluster.on('message', (worker, message, handle: unknown) =>
      this.#onMessage(worker, fromMessage<WorkerMessage>(message), handle),
    )
    cluster.on('exit', (worker, code, signal) => this.#onEnd(worker, code, signal))
    process.on('exit', this.#killAll)
  }

  async run(): Promise<ExitCode> {
    const { io } = this.#options
    if (io.signal.aborted) return EXIT.ok
    const ended = new Promise<void>((resolve) => io.signal.addEventListener('abort', () => resolve()))
    await this.#reloads.begin()
    this.#readKeys()
    await Promise.race([this.#fatal.promise, ended])
    return EXIT.ok
  }

  async close(): Promise<void> {
    await this.#reloads.close()
    // Programs that do not listen yet end at once.
    if (this.#running === undefined) return this.#killAll()
    const slow = setTimeout(() => this.#options.log.add({ event: 'note', message: FINISHING }), FINISHING_MS)
    await this.#running.close()
    await this.#streams.close()
    clearTimeout(slow)
  }

  #readKeys(): void {
    const { io } = this.#options
    if (io.stdin.isTTY !== true) return
    createInterface({ input: io.stdin }).on('line', (line) => {
      if (line.trim() === 'r') void this.#reloads.reload([], true)
      if (line.trim() === 'q') process.kill(process.pid, 'SIGINT')
    })
  }

  /** Starts the program, for the first time or in place of another one. */
  async #start(): Promise<void> {
    const { log } = this.#options
    const slow = setTimeout(() => log.add({ event: 'note', message: STILL_STARTING }), SLOW_MS)
    this.#lastError = undefined
    for (const worker of this.#unready()) this.#former.add(worker)
    this.#next = new Deferred()
    try {
      await this.#adopt(await this.#started(this.#next))
    } finally {
      clearTimeout(slow)
      this.#next = undefined
    }
  }

  #unready(): readonly Worker[] {
    return Object.values(cluster.workers ?? {}).filter(
      (worker): worker is Worker => worker !== undefined && !this.#ready.has(worker),
    )
  }

  /** Ends the program that starts. */
  #abandon(): void {
    for (const worker of this.#unready()) {
      this.#former.add(worker)
      // One that takes requests already has replaced the one before. The next one replaces it.
      if (this.#listening.has(worker)) this.#next?.reject(new ProgramEnded('before its lists were read'))
      else worker.process.kill('SIGKILL')
    }
  }

  async #started(next: Deferred<Ready>): Promise<Ready> {
    // Nobody waits for it if the first start fails.
    next.promise.catch(() => undefined)
    const { port = 3000, host } = this.#options
    if (this.#running === undefined)
      this.#running = await this.#app.listen({ http: { port, ...(host !== undefined && { host }) } })
    // This resolves only when the old process has ended, which may have requests to finish.
    else this.#running.restart().catch((error: unknown) => next.reject(error))
    return next.promise
  }

  /** Makes a program the one that serves, and tells clients what has changed. */
  async #adopt({ worker, digests }: Ready): Promise<void> {
    const { log, file, io } = this.#options
    await this.#streams.whenMoved()
    const changed = changedLists(this.#digests, digests)
    this.#digests = digests
    // It may have ended while streams were moved to it.
    if (changed.length > 0)
      worker.send(toMessage({ kind: 'changed', lists: changed }), undefined, () => undefined)
    if (this.#hasAnnounced) return log.add({ event: 'reloaded', changed })
    this.#hasAnnounced = true
    log.add({ event: 'listening', url: this.#running?.url, file: relative(io.cwd, file.path) || file.path })
  }

  #onMessage(worker: Worker, message: WorkerMessage | undefined, handle: unknown): void {
    switch (message?.kind) {
      case 'call':
        return this.#options.log.add(message.call)
      case 'failed':
        this.#lastError = message.error
        return
      case 'listening':
        this.#listening.add(worker)
        return this.#streams.move(this.#ready)
      case 'stream':
        // The client may have closed the connection on its way.
        if (handle instanceof Socket) this.#streams.take(message.request, handle)
        return
      case 'streams':
        return this.#streams.given(worker)
      case 'ready':
        this.#ready.add(worker)
        if (this.#next === undefined) return void this.#adopt({ worker, digests: message.digests })
        return this.#next.resolve({ worker, digests: message.digests })
      case undefined:
    }
  }

  #onEnd(worker: Worker, code: number | null, signal: string | null): void {
    this.#streams.given(worker)
    // An old process ends after a new one serves. Any other has failed.
    if (this.#ready.delete(worker) || this.#former.has(worker)) return
    this.#next?.reject(new ProgramEnded(signal === null ? `with code ${String(code)}` : `by ${signal}`))
  }

  #showFailure(thrown: unknown): void {
    const { log, root, startMs } = this.#options
    const { code } = ((thrown as Error).cause ?? {}) as NodeJS.ErrnoException
    // Another port must be chosen in the command line.
    if (
      this.#running === undefined &&
      (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL')
    )
      return this.#fatal.reject(thrown)
    const shown = this.#lastError ?? explained(thrown, root, startMs)
    log.add({ event: 'failed', ...shown, isServed: this.#ready.size > 0 })
  }
}

/** The process of a program ended before it served. */
class ProgramEnded extends Error {}

const STILL_STARTING = 'the program is still starting; it waits or works outside of functions'
const FINISHING = 'finishing the calls that run; Ctrl-C again ends them'
const FINISHING_MS = 1_000

/** What the end of a process means to somebody who writes a server. */
function explained(thrown: unknown, root: string, startMs: number): ShownError {
  if (thrown instanceof McpError && thrown.kind === 'workers_failed') return notInTime(startMs)
  if (thrown instanceof ProgramEnded) return endedEarly(thrown.message)
  const shown = shownError(thrown, root)
  const [, how] = /^worker \d+ ended (.*) before it was listening$/.exec(shown.message) ?? []
  return how === undefined ? shown : endedEarly(how)
}
