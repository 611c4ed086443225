import cluster from 'node:cluster'
import { delayOf, pause } from '../base/backoff.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { WORKERS_FAILED } from '../errors/workers.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { howEnded, ProcessEnded, WorkerProcess, type Addresses } from './worker-process.ts'
import type { ParentStores } from './store-steps.ts'

export interface SupervisorOptions {
  readonly count: number
  readonly stores: ParentStores
  /** How long processes have to end when all stop. */
  readonly stopMs: number
  /** How long a process has to end that another one has replaced. */
  readonly retireMs: number
  /** How long a process has to listen. */
  readonly startMs?: number | undefined
  /**
   * Whether a process that ends before it listens is an error at once if it is the first, and tried for ever later: somebody is about to
   * change the program. Default: it is tried a few times.
   */
  readonly triesOnce?: boolean | undefined
  report(level: 'warning' | 'error', message: string, facts?: JsonObject): void
  /** A process ended without taking leave as these nodes. */
  onDied(nodes: readonly number[]): void
  /** No process listens, and none can be started. */
  onGivenUp(error: Error): void
}

/** The pauses before a process is started again. */
const PAUSES = { firstMs: 100, maxMs: 30_000 }
/** A process that listened for this long was not a failure. */
const STABLE_MS = 10_000
/** How often in a row processes may end before they listen. */
const MOST_FAILURES = 5
const START_MS = 60_000

/** The place of one process, in which one follows the other. */
interface Place {
  readonly number: number
  current: WorkerProcess | undefined
  /** How often in a row its process ended soon. */
  failures: number
  /** How often in a row its process ended before it listened. */
  failedStarts: number
}

/** Keeps a number of processes running. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #places: readonly Place[]
  /** All processes that have not ended, also those that were replaced. */
  readonly #processes = new Set<WorkerProcess>()
  /** Those that were asked by a signal to end. */
  readonly #leaving = new WeakSet<WorkerProcess>()
  readonly #parent = crypto.randomUUID()
  readonly #stopping = new AbortController()
  #addresses: Addresses | undefined
  /** Whether the port was chosen by the system, and no process has kept it since. */
  #hasLostPorts = false
  #isStarted = false
  #replacing: Promise<readonly WorkerProcess[]> | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
    this.#places = Array.from({ length: options.count }, (_, at) => ({
      number: at + 1,
      current: undefined,
      failures: 0,
      failedStarts: 0,
    }))
  }

  /** Starts all processes. Answers their addresses once all listen; if one cannot, the others end. */
  async start(): Promise<Addresses> {
    // Maps and texts that are not UTF-8 must arrive as they are.
    cluster.setupPrimary({ serialization: 'advanced' })
    try {
      await Promise.all(this.#places.map((place) => this.#begin(place)))
    } catch (error) {
      this.#stopping.abort()
      for (const one of this.#processes) one.kill()
      await this.#ended()
      throw error
    }
    this.#isStarted = true
    return this.#addresses ?? {}
  }

  /** Identifies this parent among those of all machines. */
  get parent(): string {
    return this.#parent
  }

  /** Replaces all processes, one after the other: each of the old ones ends after its successor listens. */
  async restart(): Promise<void> {
    // Old processes may take long to end. Meanwhile a newer program may replace the new ones.
    this.#replacing ??= this.#replaceAll().finally(() => (this.#replacing = undefined))
    const old = await this.#replacing
    await Promise.all(old.map(({ ended }) => ended))
  }

  /** Reads the certificates of all processes again. */
  async reloadTls(): Promise<void> {
    const serving = [...this.#processes].filter(({ isServing }) => isServing)
    await Promise.all(serving.map((one) => one.reloadTls()))
  }

  /** Ends all processes once they have finished their requests. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const one of this.#processes) one.stop(this.#options.stopMs)
    await this.#ended()
  }

  /** Answers the processes that were replaced, which have not ended yet. */
  async #replaceAll(): Promise<readonly WorkerProcess[]> {
    const old: WorkerProcess[] = []
    for (const place of this.#places) {
      if (this.#stopping.signal.aborted) break
      const before = await this.#replace(place)
      if (before !== undefined) old.push(before)
    }
    return old
  }

  /**
   * Starts another process in a place; when it listens, the one before retires. If it cannot listen, that one stays; once all stop, none is
   * needed.
   */
  async #replace(place: Place): Promise<WorkerProcess | undefined> {
    const next = this.#fork(place.number)
    try {
      await this.#whenListening(next)
    } catch (error) {
      next.kill()
      if (this.#stopping.signal.aborted) return undefined
      throw error
    }
    place.failures = place.failedStarts = 0
    const before = place.current
    this.#keep(place, next)
    before?.retire(this.#options.retireMs)
    return before
  }

  /** Starts a process in a place, again and again until it listens. */
  async #begin(place: Place): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const next = this.#fork(place.number)
      try {
        await this.#whenListening(next)
        place.failedStarts = 0
        // Its place may have been taken by a restart of all meanwhile.
        if (place.current !== undefined) return next.retire(this.#options.retireMs)
        return this.#keep(place, next)
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        await this.#failed(place, error)
      }
    }
  }

  /** Throws if there is no point in starting another process. Otherwise waits before that. */
  async #failed(place: Place, error: unknown): Promise<void> {
    place.failures++
    place.failedStarts++
    // A process that could say why would say the same again.
    const isCertain = !(error instanceof ProcessEnded)
    const isServed = this.#places.some(({ current }) => current?.isServing === true)
    const { triesOnce = false } = this.#options
    if (!this.#isStarted && (isCertain || triesOnce)) throw error
    if (!triesOnce && place.failedStarts >= MOST_FAILURES && !(this.#isStarted && isServed)) {
      const reason = (error as Error).message
      throw mcpError(WORKERS_FAILED, { times: place.failedStarts, reason }, { cause: error })
    }
    await this.#pause(place, `worker ${place.number} could not start`, { error })
  }

  async #pause(place: Place, what: string, facts: JsonObject): Promise<void> {
    const ms = Math.round(delayOf(Math.max(0, place.failures - 1), PAUSES, Math.random))
    this.#options.report('error', `${what}; the next one starts in ${ms} ms`, facts)
    await pause(ms, this.#stopping.signal)
  }

  /** Makes a process that listens the one of its place, and looks after it. */
  #keep(place: Place, one: WorkerProcess): void {
    const since = performance.now()
    place.current = one
    void one.ended.then(async (end) => {
      if (place.current !== one || this.#stopping.signal.aborted) return
      place.current = undefined
      if (performance.now() - since >= STABLE_MS) place.failures = 0
      place.failures++
      const { pid, code, signal } = end
      try {
        await this.#pause(place, `worker ${place.number} ended ${howEnded(end)}`, { pid, code, signal })
        await this.#begin(place)
      } catch (error) {
        this.#options.onGivenUp(error as Error)
      }
    })
  }

  async #whenListening(one: WorkerProcess): Promise<void> {
    const ms = this.#options.startMs ?? START_MS
    const late = new AbortController()
    const inTime = pause(ms, late.signal).then(() => {
      if (late.signal.aborted) return
      one.kill()
      throw notInTime(ms)
    })
    try {
      const addresses = await Promise.race([one.listening, inTime])
      this.#addresses ??= addresses as Addresses
    } finally {
      late.abort()
    }
  }

  #fork(number: number): WorkerProcess {
    const one: WorkerProcess = new WorkerProcess({
      number,
      stores: this.#options.stores,
      welcome: () => ({ addresses: this.#keptAddresses(), parent: this.#parent }),
      onLeaving: () => this.#onLeaving(one),
      onDied: (nodes) => this.#options.onDied(nodes),
    })
    this.#processes.add(one)
    void one.ended.then(() => this.#processes.delete(one))
    return one
  }

  /** A port that the system chose belongs to the processes that use it. When all are gone, the next ones ask for the same port. */
  #keptAddresses(): Addresses | undefined {
    const isKept = this.#places.some(({ current }) => current !== undefined)
    this.#hasLostPorts ||= this.#addresses !== undefined && !isKept
    return this.#hasLostPorts ? this.#addresses : undefined
  }

  /** Somebody ended one process by a signal, or all: then a signal comes to this one, too. */
  #onLeaving(one: WorkerProcess): void {
    const place = this.#places.find(({ current }) => current === one)
    if (place === undefined || this.#stopping.signal.aborted || this.#leaving.has(one)) return
    this.#leaving.add(one)
    this.#replace(place).catch((error: unknown) => {
      this.#options.report('error', `worker ${place.number} could not be replaced at once`, { error })
      one.stop(this.#options.stopMs)
    })
  }

  async #ended(): Promise<void> {
    while (this.#processes.size > 0) await Promise.all([...this.#processes].map(({ ended }) => ended))
  }
}

function notInTime(ms: number): McpError {
  const reason = `a worker did not listen within ${ms} ms; every worker runs the whole program, and must come to listen`
  return mcpError(WORKERS_FAILED, { times: 1, reason })
}
