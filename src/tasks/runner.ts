import { delayOf } from '../base/backoff.ts'
import { orElse, soon } from '../base/soon.ts'
import { TurnoverMap } from '../base/turnover-map.ts'
import { textBytes } from '../base/weight.ts'
import { afterRun } from '../errors/after-run.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { OVERLOADED, SHUTTING_DOWN } from '../errors/rpc.ts'
import { TASK_CANCELLED, TASK_EXPIRED, TASK_RESULT_TOO_LARGE } from '../errors/tasks.ts'
import type { Result } from '../rpc/dispatch.ts'
import { Admission } from './admission.ts'
import { bytesOf, holderOf, keptBytesOf, requestBytesOf, TaskBytes } from './bytes.ts'
import { CLOCK, clockFor, type TaskClock } from './clock.ts'
import { closeTasks, giveUp } from './closing.ts'
import { Followers } from './followers.ts'
import { Gates } from './gate.ts'
import { newTaskId } from './id.ts'
import { TaskLinks } from './link.ts'
import type { InDoubt } from './in-doubt.ts'
import { endOf, isShort, isUnexpected, outcomeText, type TaskOutcome } from './outcome.ts'
import type { Begun, TaskDraft, TaskHost, TasksOptions } from './host.ts'
import { lookAt } from './look-at.ts'
import { newRecord } from './new-record.ts'
import { TaskReads } from './reads.ts'
import { headOf, type TaskHead } from './record.ts'
import { isTooLarge, tasksTooLarge } from './room.ts'
import type { Run } from './run.ts'
import { longRequest, spentRequest } from './spent-request.ts'
import { StatePace } from './state-pace.ts'
import { stateAfter, type TaskEvent } from './states.ts'
import { statusMessageOf } from './status-message.ts'
import { Strays } from './strays.ts'
import type { Soon, TaskChange, TaskStore } from './store.ts'
import { Upkeep } from './upkeep.ts'

/** How often a change is tried again after another one came first. */
export const TRIES = 10
/** The pauses before further attempts. */
const RETRY_PAUSES = { firstMs: 1000, maxMs: 300_000 }

/** How a task is put back. */
interface Release {
  /** How long it waits for its next attempt. */
  readonly pauseMs?: number
  readonly statusMessage?: string
  /** Whether the attempt counts, since its handler has begun. */
  readonly isBegun?: boolean
  /** Why its handler stops. */
  readonly why?: McpError
}

/**
 * Runs the tasks of one server: creates, changes and ends them. Records are in the store; a `Run` is an attempt in this process.
 */
export abstract class TaskRunner {
  readonly host: TaskHost
  readonly store: TaskStore
  readonly clock: TaskClock
  /** Identifies this process among those that share the store. */
  readonly node: string = newTaskId()
  readonly followers: Followers = new Followers()
  readonly runs: TurnoverMap<string, Run> = new TurnoverMap()
  /** The connections of tasks that wait for another attempt. */
  readonly links: TaskLinks = new TaskLinks()
  readonly bytes: TaskBytes
  readonly reads: TaskReads
  readonly strays: Strays
  readonly pace: StatePace = new StatePace(this)
  readonly admission: Admission
  /** Steps whose success nobody knows. */
  abstract readonly inDoubt: InDoubt
  readonly gates: Gates = new Gates(this)
  readonly isInMemory: boolean
  readonly #random: () => number
  readonly upkeep: Upkeep
  #isClosing = false
  #onIdle: (() => void) | undefined

  constructor(host: TaskHost, options: TasksOptions) {
    this.host = host
    this.store = options.store
    this.isInMemory = options.isInMemory
    this.clock = clockFor(options.store, options.clock ?? CLOCK)
    this.#random = options.random ?? Math.random
    this.bytes = new TaskBytes(host.limits.taskBytes)
    this.reads = new TaskReads(this)
    this.strays = new Strays(host.limits, this.clock)
    this.upkeep = new Upkeep(this)
    this.admission = new Admission(this)
  }

  /** Begins to claim what other processes left, and to remove what is over. Calling it again does nothing. */
  start(): Soon<void> {
    this.#isClosing = false
    return this.upkeep.start()
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Stores a call as a task, which `run` works on. The task exists once this answers. */
  begin(run: Run, draft: TaskDraft): Soon<Begun> {
    if (this.#isClosing) return { outcome: 'rejected', error: mcpError(SHUTTING_DOWN, {}) }
    const text = JSON.stringify(draft.request)
    run.holder = holderOf(draft.caller)
    const refusal = this.strays.refusalFor(run.holder)
    if (refusal !== undefined) return { outcome: 'rejected', error: refusal }
    run.requestBytes = textBytes(text)
    run.longRequest = longRequest(draft.request, text)
    run.givenBytes = requestBytesOf(draft.request, run.requestBytes) + keptBytesOf(draft.keeps)
    return soon(this.upkeep.start(), () => {
      const record = newRecord(run, draft, text)
      const bytes = bytesOf(run.requestBytes, record.state)
      return soon(this.admission.enter(record, run.holder, bytes + run.heldBytes), (admitted) => {
        if (admitted.outcome !== 'created') return admitted
        const head = headOf(record)
        run.head = head
        this.enter(run, bytes)
        this.gates.mark(run)
        this.upkeep.expect()
        return { outcome: 'created', head }
      })
    })
  }

  /** Counts a run, whose task takes so many bytes. */
  enter(run: Run, bytes: number): void {
    const { id } = run.head as TaskHead
    this.runs.set(id, run)
    this.bytes.force(id, run.holder, bytes)
    this.bytes.force(run, run.holder, run.heldBytes)
  }

  /** Counts the memory of what a run keeps for further attempts; throws if there is no room. */
  hold(run: Run): void {
    const { head } = run
    // Nothing would free what is taken after the end.
    if (head === undefined || run.isOver) return
    const bytes = bytesOf(run.requestBytes) + run.stateBytes
    if (this.bytes.setBoth(head.id, bytes, run, run.heldBytes, run.holder)) return
    throw tasksTooLarge(this.host.limits)
  }

  /** Counts what the handler of a run keeps besides, which cannot be rejected any more. */
  holdMore(run: Run, value: unknown): void {
    if (run.isOver || value === undefined) return
    run.givenBytes += keptBytesOf([value])
    this.bytes.force(run, run.holder, run.heldBytes)
  }

  /** Runs the handler of a task once there is a place for it, and ends the task with what it returns or throws. */
  work(run: Run, handle: () => Result | Promise<Result>): void {
    try {
      this.settle(run, this.gates.enter(run, handle))
    } catch (thrown) {
      this.unawaited(() => this.fail(run, thrown))
    }
  }

  /** Ends a task with what its handler returned or threw, when it does. */
  settle(run: Run, result: Result | Promise<Result>): void {
    if (!(result instanceof Promise)) return this.unawaited(() => this.finish(run, { result }))
    run.isHandling = true
    if (run.isOver) this.strays.add(run)
    const handled = (then: () => unknown): void => {
      run.isHandling = false
      this.strays.delete(run)
      this.bytes.delete(run)
      if (run.isOver) this.upkeep.freed(run.tool)
      this.unawaited(then)
    }
    result.then(
      (value) => handled(() => this.finish(run, { result: value })),
      (thrown: unknown) => handled(() => this.fail(run, thrown)),
    )
  }

  /** Does something that nobody waits for, and reports its failure. */
  unawaited(work: () => unknown): void {
    void orElse(work, (error) => this.reportFailure(error))
  }

  reportFailure(error: unknown): void {
    this.host.report('error', 'the task store failed', { error })
  }

  /** Ends a task because its handler threw something, or begins another attempt after a while. */
  fail(run: Run, thrown: unknown): Soon<void> {
    if (run.isOver) return undefined
    const own = this.host.toError(thrown, run)
    const error = afterRun(own)
    if (isUnexpected(own) && run.shared.failures < (run.plan?.retries ?? 0)) return this.#again(run, error)
    const result = this.host.toResult?.(error, run)
    return result === undefined
      ? this.finish(run, { error })
      : this.finish(run, { result }, { failure: error })
  }

  /** Puts a task back, so that this or another node begins another attempt. */
  #again(run: Run, { message }: McpError): Soon<void> {
    const pauseMs = delayOf(run.shared.failures++, RETRY_PAUSES, this.#random)
    return this.release(run, { pauseMs, statusMessage: statusMessageOf(message) })
  }

  /** Puts back a task whose attempt was not begun, because the server closes. */
  giveBack(run: Run): Soon<void> {
    return this.release(run, { isBegun: false, why: mcpError(SHUTTING_DOWN, {}) })
  }

  /** Gives up a task, so that any node begins another attempt. A handler that still runs stops for a reason. */
  release(run: Run, { pauseMs = 0, statusMessage, isBegun = true, why }: Release): Soon<void> {
    const dueAt = Math.max(1, Math.round(this.clock.now() + pauseMs))
    const change = (): TaskChange => ({
      attempt: (run.head as TaskHead).attempt + (isBegun ? 1 : 0),
      dueAt,
      node: '',
      state: run.stateText,
      ...(statusMessage !== undefined && { statusMessage }),
    })
    return this.upkeep.insist(run, () =>
      soon(run.write('release', change, true), (ok) => {
        this.leave(run, why)
        if (!ok) return
        this.links.keep(run)
        this.upkeep.wait(run.head as TaskHead, pauseMs)
      }),
    )
  }

  /** Ends a task with its outcome; it has failed if that is an error, or a result that stands for one. A handler that still runs stops for a reason. */
  finish(
    run: Run,
    outcome: TaskOutcome,
    { failure, why }: { readonly failure?: McpError; readonly why?: McpError | undefined } = {},
  ): Soon<void> {
    if (run.isOver) return undefined
    const [text, end] = this.#encode(run, outcome)
    const head = run.head as TaskHead
    const event = 'result' in end && failure === undefined ? 'return' : 'fail'
    // A failed task keeps its state, for an operator who retries it.
    const kept = 'error' in end || failure !== undefined ? run.stateText : ''
    const spent = event === 'return' ? spentRequest(run) : {}
    const requestBytes = spent.request === undefined ? run.requestBytes : textBytes(spent.request)
    this.bytes.force(head.id, run.holder, bytesOf(requestBytes, text, kept))
    const change: TaskChange = { outcome: text, node: '', dueAt: 0, ...spent, ...endOf(head, end, failure) }
    const write = (): Soon<void> =>
      soon(
        run.write(event, () => change, isShort(text)),
        () => this.leave(run, why),
      )
    return this.upkeep.insist(run, () =>
      orElse(write, (error) => {
        if (!isTooLarge(error)) throw error
        return this.finish(run, { error }, { why })
      }),
    )
  }

  /** The text of an outcome, or of the error that it cannot be kept. */
  #encode(run: Run, outcome: TaskOutcome): readonly [string, TaskOutcome] {
    const { taskResultBytes } = this.host.limits
    const { id } = run.head as TaskHead
    try {
      const text = outcomeText(outcome)
      const bytes = textBytes(text)
      if (bytes > taskResultBytes) throw mcpError(TASK_RESULT_TOO_LARGE, { limit: taskResultBytes })
      if (!isShort(text) && !this.bytes.set(id, run.holder, bytesOf(run.requestBytes) + bytes))
        throw tasksTooLarge(this.host.limits)
      return [text, outcome]
    } catch (thrown) {
      const error = this.host.toError(thrown, run)
      return [outcomeText({ error }), { error }]
    }
  }

  /** Forgets a run whose attempt is over. */
  leave(run: Run, reason?: McpError): void {
    const { id } = run.head as TaskHead
    if (this.runs.get(id) === run) this.runs.delete(id)
    if (!this.isInMemory) this.bytes.delete(id)
    // A handler that does not stop keeps its place and its memory until it ends.
    if (run.isHandling) this.strays.add(run)
    else this.bytes.delete(run)
    run.close(reason)
    this.upkeep.freed(run.tool)
    if (this.runs.size === 0) this.#onIdle?.()
  }

  /** Stops a run whose task ended elsewhere, or belongs to another node now. */
  lose(run: Run, head: TaskHead | undefined): void {
    if (head === undefined) this.bytes.delete((run.head as TaskHead).id)
    this.leave(run, mcpError(head === undefined ? TASK_EXPIRED : TASK_CANCELLED, {}))
  }

  /** Changes the record of a run. False if the run is over, or the event is not legal. Fails if there is no room, unless it must not be lost. */
  change(run: Run, event: TaskEvent, make: () => TaskChange, isForced = false): Soon<boolean> {
    const message = run.takeMessage()
    const room = isForced ? undefined : this.host.limits
    const attempt = (tries: number): Soon<boolean> => {
      if (run.isOver) return false
      const head = run.head as TaskHead
      const status = stateAfter(head.status, event)
      if (status === undefined) return false
      const change = { status, updatedAt: this.clock.now(), ...message, ...make() }
      return soon(
        run.whileChanging(() => this.store.change(head.id, head.version, change, room)),
        (next) => {
          if (next !== undefined) {
            run.head = next
            if (next.status !== head.status) run.link?.onStatus?.(next)
            if (this.#isClosing && status === 'input_required') this.unawaited(() => giveUp(this, run))
            return true
          }
          if (tries === 0) throw mcpError(OVERLOADED, {})
          return soon(lookAt(run), (isOurs) => isOurs && attempt(tries - 1))
        },
      )
    }
    return orElse(
      () => attempt(TRIES),
      (error) => {
        run.keepMessage(message)
        throw error
      },
    )
  }

  /** Compares the run of a task, if it is here, with what another node changed. */
  noticed(id: string): void {
    this.followers.changed(id)
    const run = this.runs.get(id)
    if (run === undefined) return this.unawaited(() => this.#noticedWaiting(id))
    if (run.isChanging) run.noticeLater()
    else this.compare(run)
  }

  /** Forgets a task that does not run here if it is gone, or drops its link if another node has it. */
  #noticedWaiting(id: string): Soon<void> {
    if (!this.isInMemory || !this.bytes.has(id)) return this.links.check(id, this)
    return soon(this.store.head(id), (head) => {
      if (head === undefined) this.bytes.delete(id)
      return this.links.check(id, this)
    })
  }

  /** Compares a run with its record, which another node may have changed. */
  compare(run: Run): void {
    // Notices that arrive meanwhile share the next look.
    this.unawaited(() => run.whileChanging(() => lookAt(run)))
  }

  /** Ends what waits for tasks, because the server closes. */
  endWaits(): void {
    this.#isClosing = true
    this.followers.all()
  }

  /** Waits until no task runs, at most so many milliseconds. */
  async idle(mostMs: number): Promise<void> {
    if (this.runs.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = this.clock.after(mostMs, resolve, true)
      this.#onIdle = () => {
        this.clock.clear(timer)
        resolve()
      }
    })
    this.#onIdle = undefined
  }

  /** Waits up to `drainMs` until tasks have ended, then gives up the rest: they are tried again elsewhere, or fail. */
  close(drainMs: number): Promise<void> {
    this.endWaits()
    return closeTasks(this, drainMs)
  }
}
