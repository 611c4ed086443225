import { doubledMs } from '../base/backoff.ts'
import { orElse, soon } from '../base/soon.ts'
import { damageOf, endDamaged } from './damage.ts'
import type { Run } from './run.ts'
import type { Soon } from './store.ts'
import type { TaskRunner } from './runner.ts'

/** Milliseconds for which a node counts as alive, unless the store says otherwise, and the signs of life within that time. */
const LEASE_MS = 15_000
const BEATS = 3
/** Milliseconds between two removals of tasks whose time is over. */
const SWEEP_MS = 10_000
/** The pauses before a change that the store refused is tried again. */
const WRITE_PAUSES = { firstMs: 5_000, maxMs: 300_000 }
/** The pauses before the store is tried again that failed at the start. */
const START_PAUSES = { firstMs: 1_000, maxMs: 30_000 }
/** The most tasks that are claimed, or removed, at once. */
const AT_ONCE = 100

/** A change that the store refused. */
interface Unwritten {
  readonly write: () => Soon<void>
  /** When it is tried again. */
  readonly at: number
  /** How often the store refused it. */
  readonly failures: number
}

/**
 * What the tasks of a server need from time to time: a sign of life in the store, further attempts that are due, tasks that other
 * nodes left, and the removal of those whose time is over. One timer serves them all, and none runs while there are no tasks.
 */
export class Upkeep {
  readonly #tasks: TaskRunner
  #isStarted = false
  #starting: Promise<void> | undefined
  /** Waits to start again, after the store failed so many times. */
  #startTimer: unknown
  #failedStarts = 0
  #unwatch: (() => void) | undefined
  #timer: unknown
  #timerAt = Infinity
  /** When tasks that wait may begin another attempt, and changes are tried again. */
  #dues: number[] = []
  /** Changes that the store did not take yet. */
  readonly #unwritten = new Map<Run, Unwritten>()

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  start(): Soon<void> {
    if (this.#isStarted) return undefined
    if (this.#starting !== undefined) return this.#starting
    const begun = orElse(
      () => this.#begin(),
      (error) => {
        this.#startLater()
        throw error
      },
    )
    if (begun instanceof Promise)
      this.#starting = begun.finally(() => {
        this.#starting = undefined
      })
    return this.#starting ?? undefined
  }

  #begin(): Soon<void> {
    this.#unwatch ??= this.#tasks.store.watch((id) => this.#tasks.noticed(id))
    return soon(this.#beat(), () => {
      this.#isStarted = true
      this.#starting = undefined
      this.#failedStarts = 0
      this.#arm(this.#now)
    })
  }

  /** Starts after a while, also if nobody asks for it: tasks of other nodes wait. */
  #startLater(): void {
    const { clock, isClosing } = this.#tasks
    if (this.#startTimer !== undefined || isClosing) return
    this.#startTimer = clock.after(doubledMs(this.#failedStarts++, START_PAUSES), () => {
      this.#startTimer = undefined
      this.#tasks.unawaited(() => this.start())
    })
  }

  async stop(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    if (this.#startTimer !== undefined) this.#tasks.clock.clear(this.#startTimer)
    this.#startTimer = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
    if (!this.#isStarted) return
    this.#isStarted = false
    this.#disarm()
    this.#dues = []
    this.#unwritten.clear()
    // Tasks that wait can be claimed by others at once.
    await this.#tasks.store.beat(this.#tasks.node, this.#now)
  }

  /** A task was created, whose time will be over. */
  expect(): void {
    if (this.#timerAt === Infinity) this.#arm(this.#now + SWEEP_MS)
  }

  /** A task waits for another attempt. */
  due(at: number): void {
    this.#dues.push(at)
    this.#arm(at)
  }

  /** Writes a change that must not be lost; if the store fails, again after a while. */
  insist(run: Run, write: () => Soon<void>, failures = 0): Soon<void> {
    return orElse(write, (error) => {
      this.#tasks.host.report('error', 'a task could not be stored; it is tried again', { error })
      const at = this.#now + doubledMs(failures, WRITE_PAUSES)
      this.#unwritten.set(run, { write, at, failures: failures + 1 })
      this.due(at)
    })
  }

  /** The change of a run that the store refused, which the caller writes now; undefined if there is none. */
  takeUnwritten(run: Run): (() => Soon<void>) | undefined {
    const write = this.#unwritten.get(run)?.write
    this.#unwritten.delete(run)
    return write
  }

  /** Tries again what the store did not take until then: all at once, since a store that is locked makes each of them wait. */
  async writeAgain(until: number): Promise<void> {
    // A list of its own, since changes that are refused again are added again.
    const all = [...this.#unwritten].filter(([, { at }]) => at <= until)
    for (const [run] of all) this.#unwritten.delete(run)
    await Promise.all(all.map(async ([run, { write, failures }]) => this.insist(run, write, failures)))
  }

  get #now(): number {
    return this.#tasks.clock.now()
  }

  #beat(): Soon<void> {
    const { store, node, isInMemory } = this.#tasks
    return store.beat(node, isInMemory ? Number.MAX_SAFE_INTEGER : this.#now + this.#leaseMs)
  }

  get #leaseMs(): number {
    return this.#tasks.store.leaseMs ?? LEASE_MS
  }

  #arm(at: number): void {
    if (at >= this.#timerAt || !this.#isStarted) return
    this.#disarm()
    this.#timerAt = at
    this.#timer = this.#tasks.clock.after(Math.max(0, at - this.#now), () => {
      this.#timer = undefined
      this.#timerAt = Infinity
      void this.#tick()
    })
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#tasks.clock.clear(this.#timer)
    this.#timer = undefined
    this.#timerAt = Infinity
  }

  async #tick(): Promise<void> {
    const now = this.#now
    let isMore = false
    try {
      if (!this.#tasks.isInMemory) await this.#beat()
      await this.writeAgain(now)
      isMore = await this.expire(now, false)
      isMore = (await this.#claim(now)) || isMore
    } catch (error) {
      this.#tasks.host.report('error', 'the task store failed', { error })
    }
    if (!this.#isStarted) return
    this.#dues = this.#dues.filter((at) => at > now)
    const { isInMemory, bytes } = this.#tasks
    const isIdle = isInMemory && bytes.total === 0 && this.#unwritten.size === 0
    const next = isIdle ? Infinity : now + (isInMemory ? SWEEP_MS : this.#leaseMs / BEATS)
    this.#arm(isMore ? now : this.#dues.reduce((least, at) => Math.min(least, at), next))
  }

  /** Removes tasks whose time is over: some of them, or with `isAll` as many as there are. Says whether there may be more. */
  expire(now: number, isAll = true): Soon<boolean> {
    const { store, bytes, links, runs } = this.#tasks
    return soon(store.expire(now, AT_ONCE), (ids) => {
      for (const id of ids) {
        bytes.delete(id)
        links.delete(id)
        const run = runs.get(id)
        if (run !== undefined) this.#tasks.lose(run, undefined)
      }
      const isMore = ids.length === AT_ONCE
      return isMore && isAll ? this.expire(now) : isMore
    })
  }

  async #claim(now: number): Promise<boolean> {
    if (this.#tasks.isClosing) return false
    const records = await this.#tasks.store.claim(this.#tasks.node, now, AT_ONCE)
    for (const record of records) {
      const damage = damageOf(record)
      if (damage === undefined) this.#tasks.resume(record)
      else this.#tasks.unawaited(() => endDamaged(this.#tasks, record, damage))
    }
    return records.length === AT_ONCE
  }
}
