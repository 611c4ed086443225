import cluster, { type Worker } from 'node:cluster'
import { Deferred } from '../base/deferred.ts'
import { LONGEST_MS } from '../base/duration.ts'
import { Channel } from './channel.ts'
import { errorFrom, type ErrorData } from './error-data.ts'
import { closeUnaccepted, portTo } from './ports.ts'
import { StoreGuest } from './store-host.ts'
import type { ParentStores } from './store-steps.ts'

/** The addresses of the transports that a worker opened, by name. */
export type Addresses = Readonly<Record<string, string>>

/** Says to a new process that it is a worker, and which one. */
export const WORKER_VARIABLE = 'PIERHEAD_WORKER'

/** How a process ended. */
export interface End {
  readonly pid: number | undefined
  readonly code: number | null
  readonly signal: string | null
}

/** What a worker learns before it listens. */
export interface Welcome {
  /** The addresses that the parent told its users, whose ports must not change; undefined if there are none, or if others still use them. */
  readonly addresses: Addresses | undefined
  /** Identifies the parent among those of all machines. */
  readonly parent: string
}

export interface ProcessOptions {
  readonly number: number
  readonly stores: ParentStores
  welcome(): Welcome
  /** The process was asked by a signal to end. */
  onLeaving(): void
  /** The process has ended without taking leave as these nodes. */
  onDied(nodes: readonly number[]): void
}

/** A process of a server: it starts, listens, and ends. */
export class WorkerProcess {
  /** Resolves when it listens; rejects if it cannot, or has ended before. */
  readonly listening: Promise<Addresses>
  /** Resolves when it has ended. */
  readonly ended: Promise<End>
  readonly #worker: Worker
  readonly #channel: Channel
  #isListening = false
  #isToEnd = false

  constructor({ number, stores, welcome, onLeaving, onDied }: ProcessOptions) {
    const listening = new Deferred<Addresses>()
    this.listening = listening.promise
    // Not everybody waits for it.
    this.listening.catch(() => undefined)
    this.#worker = cluster.fork({ [WORKER_VARIABLE]: String(number) })
    closeUnaccepted(this.#worker)
    const nodes = new Set<number>()
    const guest = new StoreGuest(stores, () => this.#channel.hasNews())
    this.#channel = new Channel(
      portTo(this.#worker),
      {
        welcome,
        leaving: onLeaving,
        joined: (node: number) => nodes.add(node),
        left: (node: number) => nodes.delete(node),
        listening: (addresses: Addresses) => {
          this.#isListening = true
          listening.resolve(addresses)
        },
        failed: (error: ErrorData) => listening.reject(errorFrom(error)),
        step: (name: string, args: readonly unknown[]) => guest.step(name, args),
        watch: (...args: Parameters<StoreGuest['watch']>) => guest.watch(...args),
        unwatch: (watch: number) => guest.unwatch(watch),
      },
      () => guest.takeNews(),
    )
    this.ended = new Promise((resolve) => {
      const finish = (code: number | null, signal: string | null): void => {
        this.#channel.close()
        guest.end()
        onDied([...nodes])
        listening.reject(new ProcessEnded(number, { pid: this.pid, code, signal }))
        resolve({ pid: this.pid, code, signal })
      }
      this.#worker.once('exit', finish)
      this.#worker.on('error', (error) => {
        listening.reject(error)
        // A process that could not be created does not exit.
        if (this.pid === undefined) finish(null, null)
      })
    })
  }

  get pid(): number | undefined {
    return this.#worker.process.pid
  }

  /** Whether it has begun to listen and was not asked to end. */
  get isServing(): boolean {
    return this.#isListening && !this.#isToEnd
  }

  /** Whether it was asked to end. */
  get isToEnd(): boolean {
    return this.#isToEnd
  }

  /** Reads its certificates again. */
  async reloadTls(): Promise<void> {
    await this.#channel.call('reloadTls')
  }

  /** Takes no new connections, serves those that it has until they are idle, and ends, within some milliseconds. */
  retire(withinMs: number): void {
    this.#isToEnd = true
    this.#channel.tell('retire')
    this.#killAfter(withinMs)
  }

  /** Finishes its requests and ends, within some milliseconds. */
  stop(withinMs: number): void {
    this.#isToEnd = true
    if (!this.#isListening) return this.kill()
    this.#channel.tell('stop')
    this.#killAfter(withinMs)
  }

  /** Ends it at once. */
  kill(): void {
    this.#isToEnd = true
    this.#worker.process.kill('SIGKILL')
  }

  /** Ends it if it has not ended by then, because it is stuck. */
  #killAfter(ms: number): void {
    const timer = setTimeout(() => this.kill(), Math.min(ms, LONGEST_MS))
    void this.ended.then(() => clearTimeout(timer))
  }
}

/** A process ended before it listened. */
export class ProcessEnded extends Error {
  constructor(number: number, end: End) {
    super(`worker ${number} ended ${howEnded(end)} before it was listening`)
  }
}

/** Says how a process ended. */
export function howEnded({ code, signal }: End): string {
  return signal === null ? `with code ${String(code)}` : `by ${signal}`
}
