import { doubledMs } from '../base/backoff.ts'
import { nextTask } from '../base/next-task.ts'
import { Deferred } from '../base/deferred.ts'
import { orElse, soon } from '../base/soon.ts'
import { Claims } from './claims.ts'
import type { TaskHead } from './record.ts'
import type { Run } from './run.ts'
import type { Soon } from './store.ts'
import type { TaskRunner } from './runner.ts'
import { SignsOfLife } from './signs-of-life.ts'

/** Milliseconds between two removals of tasks whose time is over. */
const SWEEP_MS = 10_000
/** The pauses before a change that the store refused is tried again. */
const WRITE_PAUSES = { firstMs: 5_000, maxMs: 300_000 }
/** The pauses before the store is tried again that failed at the start. */
const START_PAUSES = { firstMs: 1_000, maxMs: 30_000 }
/** Steps back of the wall clock that are shorter do not matter. */
const SHORT_STEP_MS = 1000
/** The most tasks that are removed at once. */
const AT_ONCE = 100

/** A change that the store refused. */
interface Unwritten {
  readonly write: () => Soon<void>
  /** When it is tried again, by the time that has elapsed. */
  readonly at: number
  /** How often the store refused it. */
  readonly failures: number
}

/**
 * What the tasks of a server need from time to time: further attempts that are due, tasks that other nodes left, and the removal of those whose
 * time is over. One timer serves them all, and none runs while there are no tasks. Signs of life have their own.
 */
export class Upkeep {
  readonly #tasks: TaskRunner
  readonly #claims: Claims
  readonly #signs: SignsOfLife
  #isStarted = false
  /** The difference between the wall clock and the time that has elapsed. */
  #ahead = -Infinity
  /** The look at the store that is under way. */
  #looking: Promise<void> | undefined
  #starting: Promise<void> | undefined
  /** Waits to start again, after the store failed so many times. */
  #startTimer: unknown
  #failedStarts = 0
  #unwatch: (() => void) | undefined
  /** Stops the store from calling when a task is due. */
  #unready: (() => Soon<void>) | undefined
  /** Those who wait for the end of the next look. */
  #afterLook: Deferred<void> | undefined
  #timer: unknown
  #timerAt = Infinity
  /** When tasks that wait may begin another attempt, and changes are tried again. */
  #dues = new Set<number>()
  /** The removal of all tasks whose time is over, which those who need it share. */
  #expiring: Promise<void> | undefined
  #step: Promise<boolean> | undefined
  /** Changes that the store did not take yet. */
  readonly #unwritten = new Map<Run, Unwritten>()

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
    this.#claims = new Claims(tasks)
    this.#signs = new SignsOfLife(tasks)
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
    return soon(this.#signs.start(), () => {
      this.#isStarted = true
      this.#starting = undefined
      this.#failedStarts = 0
      this.#ahead = Math.max(this.#ahead, this.#now - this.#tasks.clock.elapsed())
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

  /** Looks at the store no more, and waits for the look that is under way. */
  async halt(): Promise<void> {
    await this.#starting?.catch(() => undefined)
    if (this.#startTimer !== undefined) this.#tasks.clock.clear(this.#startTimer)
    this.#startTimer = undefined
    this.#isStarted = false
    this.#disarm()
    await this.#looking
    this.#afterLook?.resolve()
    this.#afterLook = undefined
    await this.#unready?.()
    this.#unready = undefined
  }

  async stop(): Promise<void> {
    await this.halt()
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#dues.clear()
    this.#unwritten.clear()
    await this.#signs.stop()
  }

  /** A task was created, whose time will be over. */
  expect(): void {
    if (this.#timerAt === Infinity) this.#arm(this.#now + SWEEP_MS)
  }

  /** A task of a tool has ended, so that another one may have its place, or its room. */
  freed(tool: string): void {
    if (this.#claims.takeShortage(tool)) this.due(this.#now)
  }

  /** A task waits so many milliseconds for another attempt. */
  wait(head: TaskHead, pauseMs: number): void {
    this.#claims.pause(head, pauseMs)
    this.due(head.dueAt)
  }

  /** A task may begin. Others look at the store if this node does not. */
  due(at: number): void {
    if (!this.#isStarted) return
    this.#dues.add(at)
    this.#arm(at)
  }

  /** Writes a change that must not be lost; if the store fails, again after a while. */
  insist(run: Run, write: () => Soon<void>, failures = 0): Soon<void> {
    return orElse(write, (error) => {
      this.#tasks.host.report('error', 'a task could not be stored; it is tried again', { error })
      const pause = doubledMs(failures, WRITE_PAUSES)
      const at = this.#tasks.clock.elapsed() + pause
      this.#unwritten.set(run, { write, at, failures: failures + 1 })
      this.due(this.#now + pause)
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

  #arm(at: number): void {
    if (at >= this.#timerAt || !this.#isStarted || this.#looking !== undefined) return
    this.#disarm()
    this.#timerAt = at
    this.#timer = this.#tasks.clock.after(Math.max(0, at - this.#now), () => {
      this.#timer = undefined
      this.#timerAt = Infinity
      this.#looking = this.#look()
    })
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#tasks.clock.clear(this.#timer)
    this.#timer = undefined
    this.#timerAt = Infinity
  }

  /** Claims tasks as soon as the store says that some are due, if it can and this server has tools for them. */
  #listen(): void {
    const { store, host } = this.#tasks
    if (this.#unready !== undefined || store.onReady === undefined || !this.#isStarted) return
    for (const tool of host.tools())
      if (host.planOf(tool) !== undefined) {
        this.#unready = store.onReady(host.server, () => this.#lookNow())
        return
      }
  }

  /** Looks at the store, and resolves after that. */
  #lookNow(): Promise<void> {
    if (!this.#isStarted) return Promise.resolve()
    this.#afterLook ??= new Deferred()
    this.due(this.#now)
    return this.#afterLook.promise
  }

  async #look(): Promise<void> {
    const { clock, host, isInMemory, bytes } = this.#tasks
    const now = this.#now
    const after = this.#afterLook
    this.#afterLook = undefined
    this.#listen()
    for (const at of this.#dues) if (at <= now) this.#dues.delete(at)
    let isMore = false
    try {
      await this.#signs.check()
      await this.writeAgain(clock.elapsed())
      await this.#notice(now)
      isMore = await this.expire(now)
      await this.#tasks.inDoubt.check()
      if (this.#signs.mayClaim) isMore = (await this.#claim(now)) || isMore
    } catch (error) {
      host.report('error', 'the task store failed', { error })
    }
    this.#looking = undefined
    after?.resolve()
    const isIdle = isInMemory && bytes.total === 0 && this.#unwritten.size === 0
    const next = isIdle ? Infinity : now + (isInMemory ? SWEEP_MS : this.#signs.intervalMs)
    this.#arm(isMore ? now : [...this.#dues].reduce((least, at) => Math.min(least, at), next))
  }

  async #claim(now: number): Promise<boolean> {
    try {
      return await this.#claims.take(now)
    } catch (error) {
      this.#tasks.inDoubt.claim()
      throw error
    }
  }

  /** Notices that the wall clock was set back: pauses of tasks would be longer by as much. */
  async #notice(now: number): Promise<void> {
    const ahead = now - this.#tasks.clock.elapsed()
    const isBack = ahead < this.#ahead - SHORT_STEP_MS
    this.#ahead = ahead
    if (isBack) this.due(await this.#claims.correct(now))
  }

  /** Removes all tasks whose time is over, in steps, so that no number of them keeps the process or the store from other work. */
  expireAll(now: number): Soon<void> {
    if (this.#expiring !== undefined) return this.#expiring
    return soon(this.expire(now), (isMore) => {
      if (!isMore) return undefined
      this.#expiring ??= this.#expireRest(now).finally(() => {
        this.#expiring = undefined
      })
      return this.#expiring
    })
  }

  async #expireRest(now: number): Promise<void> {
    while (await this.expireSoon(now));
  }

  /** Removes some tasks whose time is over after others had a turn. All who wait for that share it. */
  expireSoon(now: number): Promise<boolean> {
    return (this.#step ??= nextTask().then(() => {
      this.#step = undefined
      return this.expire(now)
    }))
  }

  /** Removes some tasks whose time is over. Says whether there may be more. */
  expire(now: number): Soon<boolean> {
    const { store, bytes, links, runs } = this.#tasks
    return soon(store.expire(now, AT_ONCE), (ids) => {
      for (const id of ids) {
        bytes.delete(id)
        links.delete(id)
        const run = runs.get(id)
        if (run !== undefined) this.#tasks.lose(run, undefined)
      }
      return ids.length === AT_ONCE
    })
  }
}
