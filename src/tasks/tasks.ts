import { doubledMs } from '../base/backoff.ts'
import { orElse, soon } from '../base/soon.ts'
import { textBytes } from '../base/weight.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { OVERLOADED, SHUTTING_DOWN } from '../errors/rpc.ts'
import { TASK_CANCELLED } from '../errors/tasks.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import { bytesOf, storedHolder } from './bytes.ts'
import { TaskWatch } from './followers.ts'
import { newTaskId } from './id.ts'
import { InDoubt } from './in-doubt.ts'
import { Lookups } from './lookups.ts'
import { freedKey, isReserved, retryKey, withOwnKey } from './key.ts'
import { outcomeText } from './outcome.ts'
import { headOf, type TaskHead, type TaskRecord, type TaskStatus } from './record.ts'
import type { Run } from './run.ts'
import { TaskRunner, TRIES } from './runner.ts'
import { type Amendment, Amendments } from './amendments.ts'
import { checkAnswers, hasNoRoom } from './answer-room.ts'
import { cancelledRequest } from './spent-request.ts'
import type { ReadText } from './reads.ts'
import { AttemptState } from './attempt-state.ts'
import { isOver, stateAfter } from './states.ts'
import type { Soon, TaskChange, TaskQuery } from './store.ts'
import { OpenQuestions } from './open-questions.ts'
import { Unanswered } from './unanswered.ts'
import { Waiters } from './waiters.ts'

/** The number of tasks that are read at once. */
const PAGE = 100
/** The pauses before tasks that could not be cancelled are tried again. */
const CANCEL_PAUSES = { firstMs: 1000, maxMs: 60_000 }
/** The task has changed between two steps. */
const CHANGED = Symbol('changed')
const UNFINISHED = ['working', 'input_required'] as const

/** A task that was to be cancelled, and whether this call has cancelled it. */
export interface Cancelled {
  readonly head: TaskHead
  readonly isDone: boolean
}

interface Cancelling {
  readonly id: string
  readonly owner: string | undefined
  readonly run: Run | undefined
  isMeant(head: TaskHead): boolean
}

/** The tasks of one server. Callers reach only their own: to anybody else, a task does not exist. */
export class Tasks extends TaskRunner {
  /** The calls that wait for the end of a task, which others may join. */
  readonly waiters: Waiters = new Waiters()
  readonly unanswered: Unanswered = new Unanswered()
  readonly questions: OpenQuestions = new OpenQuestions(this)
  readonly lookups: Lookups = new Lookups(this)
  readonly inDoubt: InDoubt = new InDoubt(this)
  readonly #amendments = new Amendments(this)

  /** A task of a caller; undefined if there is none, or if it belongs to somebody else. */
  find(id: string, owner: string): Soon<TaskHead | undefined> {
    return soon(this.store.head(id), (head) => this.#visible(head, owner))
  }

  /** The same with the text of its outcome, which is empty until it has ended. */
  ended(id: string, owner: string): Soon<ReadText | undefined> {
    return soon(this.find(id, owner), (head) =>
      head === undefined || !hasOutcome(head) ? head && { head, text: '' } : this.reads.of(head, 'outcome'),
    )
  }

  /** A task with its texts, whoever owns it. */
  show(id: string): Soon<TaskRecord | undefined> {
    return soon(this.store.get(id), (record) => this.#alive(record))
  }

  /** Whether a task exists for an owner. */
  isVisible(head: TaskHead, owner: string): boolean {
    return this.#visible(head, owner) !== undefined
  }

  #visible<Head extends TaskHead>(head: Head | undefined, owner: string): Head | undefined {
    return head?.owner === owner ? this.#alive(head) : undefined
  }

  /** Tasks whose time is over are gone, even before they are removed. Those of other servers that share the store do not exist. */
  #alive<Head extends TaskHead>(head: Head | undefined): Head | undefined {
    if (head === undefined || isOver(head, this.clock.now())) return undefined
    return head.server === this.host.server || head.server === '' ? head : undefined
  }

  /** Waits until `isEnough` accepts the task, at most so many milliseconds; undefined if the task does not exist or is removed. */
  async until(
    id: string,
    owner: string,
    isEnough: (head: TaskHead) => boolean,
    mostMs: number = Infinity,
  ): Promise<TaskHead | undefined> {
    const watch = new TaskWatch(this.followers, id)
    let isLate = false
    const timer =
      mostMs === Infinity
        ? undefined
        : this.clock.after(mostMs, () => {
            isLate = true
            watch.wake()
          })
    try {
      for (;;) {
        const head = await this.find(id, owner)
        if (head === undefined || isLate || isEnough(head)) return head
        this.checkOpen()
        await watch.changed()
      }
    } finally {
      watch.stop()
      if (timer !== undefined) this.clock.clear(timer)
    }
  }

  /** Throws if the server closes, so that nobody waits for a task any longer. */
  checkOpen(): void {
    if (this.isClosing) throw mcpError(SHUTTING_DOWN, {})
  }

  /** A call has got a task by its key. Says so in the record, unless this process counts its calls. False if the task has changed meanwhile: the call must look again. */
  join({ id, version, status, isShared }: TaskHead): Soon<boolean> {
    if (this.waiters.join(id) || isShared || isFinal(status)) return true
    return soon(this.store.change(id, version, { isShared: true }), (marked) => marked !== undefined)
  }

  /** Cancels a task that is meant. Answers its head, and whether this call has cancelled it; undefined if it does not exist. */
  cancel(
    id: string,
    owner: string | undefined,
    isMeant: (head: TaskHead) => boolean = () => true,
    tries: number = TRIES,
  ): Soon<Cancelled | undefined> {
    const run = this.runs.get(id)
    const attempt = (): Soon<Cancelled | undefined | typeof CHANGED> =>
      this.#tryToCancel({ id, owner, isMeant, run })
    // Between the writes of an attempt of this process, since a handler that writes all the time would always be faster.
    return soon(run === undefined ? attempt() : run.inTurn(attempt), (cancelled) => {
      if (cancelled !== CHANGED) return cancelled
      if (tries === 0) throw mcpError(OVERLOADED, {})
      return this.cancel(id, owner, isMeant, tries - 1)
    })
  }

  #tryToCancel({ id, owner, isMeant, run }: Cancelling): Soon<Cancelled | undefined | typeof CHANGED> {
    return soon(this.store.head(id), (found) => {
      const head = owner === undefined ? this.#alive(found) : this.#visible(found, owner)
      if (head === undefined) return undefined
      const status = stateAfter(head.status, 'cancel')
      if (status === undefined || !isMeant(head)) return { head, isDone: false }
      const change: TaskChange = {
        status,
        statusMessage: 'cancelled',
        updatedAt: this.clock.now(),
        node: '',
        key: freedKey(head),
        state: '',
        dueAt: 0,
      }
      const act = (): Soon<TaskHead | undefined> =>
        soon(cancelledRequest(this.store, head, run), (spent) =>
          this.store.change(id, head.version, { ...change, ...spent }),
        )
      return soon(run === undefined ? act() : run.whileChanging(act), (next) => {
        if (next === undefined) return CHANGED
        if (this.bytes.has(id) && run?.longRequest !== undefined) this.bytes.force(id, run.holder, bytesOf(0))
        const link = run === undefined ? this.links.take(id) : run.link
        if (run === undefined || !run.isOver) link?.onStatus?.(next)
        if (run !== undefined && !run.isOver) {
          run.head = next
          this.leave(run, mcpError(TASK_CANCELLED, {}))
        }
        return { head: next, isDone: true }
      })
    })
  }

  /** Cancels the unfinished tasks that are meant, on whichever node they wait or run, as often as it takes. Those created from now on are left alone. */
  async cancelAll(isMeant: (head: TaskHead) => boolean): Promise<void> {
    const now = this.clock.now()
    const isOld = (head: TaskHead): boolean => head.createdAt <= now && isMeant(head)
    for (let failures = 0; !this.isClosing; failures++) {
      const all = await Promise.allSettled(UNFINISHED.map((status) => this.#cancelThose(status, isOld)))
      const failed = all.find((each) => each.status === 'rejected')
      if (failed === undefined) return
      this.reportFailure(failed.reason)
      await new Promise<void>((resolve) => this.clock.after(doubledMs(failures, CANCEL_PAUSES), resolve))
    }
    this.checkOpen()
  }

  /** Cancels the tasks with a status that are meant. One that fails stops no other. */
  async #cancelThose(status: TaskStatus, isMeant: (head: TaskHead) => boolean): Promise<void> {
    const query = { server: this.host.server, status, limit: PAGE }
    const errors: unknown[] = []
    for (let after: string | undefined; ;) {
      const heads = await this.store.list(after === undefined ? query : { ...query, after })
      for (const head of heads.filter(isMeant))
        await orElse(
          () => this.cancel(head.id, undefined),
          (error) => errors.push(error),
        )
      // Nothing follows a task that is gone, so the list begins again.
      const isGone = after !== undefined && heads.length === 0 && (await this.store.head(after)) === undefined
      if (heads.length < PAGE && !isGone) break
      after = heads.at(-1)?.id
    }
    if (errors.length > 0) throw errors[0]
  }

  /** Takes answers of the client. Those to unknown questions are ignored. False if the task does not exist. */
  answer(id: string, owner: string, responses: readonly (readonly [string, JsonObject])[]): Soon<boolean> {
    let taken: readonly string[] = []
    const amendment: Amendment = {
      names: responses.map(([name]) => name),
      isForced: false,
      here: (run) => run.answer(responses),
      amend: (shared) => {
        taken = shared.take(responses)
        checkAnswers(shared, taken, this.host.limits)
        return taken.length > 0
      },
    }
    return orElse(
      () => this.#amendments.settle(id, owner, amendment),
      (error) => {
        if (hasNoRoom(error))
          for (const name of taken) this.unawaited(() => this.refuse(id, owner, name, error))
        throw error
      },
    )
  }

  /** Gives up a question, because it gets no answer; the handler that waits gets the error, on whichever node. */
  refuse(id: string, owner: string, name: string, error: McpError): Soon<boolean> {
    return this.#amendments.settle(id, owner, {
      names: [name],
      isForced: true,
      here: (run) => run.refuse(name, error),
      amend: (shared) => shared.refuse(name, outcomeText({ error })),
    })
  }

  /** Tasks in the order of their creation. Those whose time is over are removed first, so that a short page is the last. */
  list(query: Omit<TaskQuery, 'server'>): Soon<readonly TaskHead[]> {
    const now = this.clock.now()
    const read = (): Soon<readonly TaskHead[]> => this.store.list({ ...query, server: this.host.server })
    return soon(read(), (heads) =>
      heads.some((head) => isOver(head, now)) ? soon(this.upkeep.expireAll(now), read) : heads,
    )
  }

  /**
   * Starts a new task for the request of one that failed, with what that kept; or answers the one that an earlier retry has started,
   * unless that failed or was cancelled, too. It runs wherever this server serves callers. Undefined if it does not exist; false if it
   * has not failed.
   */
  retry(id: string): Soon<TaskHead | false | undefined> {
    this.checkOpen()
    return soon(this.show(id), (failed) => {
      if (failed?.status !== 'failed') return failed === undefined ? undefined : false
      const now = this.clock.now()
      const { request, ...old } = failed
      const { key: ownKey } = withOwnKey(failed)
      const state = AttemptState.of(failed.state).textForRetry
      const fresh = { status: 'working', statusMessage: '', isError: false, outcome: '' } as const
      const times = { createdAt: now, updatedAt: now, dueAt: Math.max(1, now), attempt: 1, version: 1 }
      const record: TaskRecord = {
        ...old,
        id: this.store.newId?.() ?? newTaskId(),
        server: this.host.server,
        // A second retry, and the caller, find it by its key. A scope of its own makes that possible for callers without one.
        scope: old.scope || retryKey(id),
        key: ownKey === '' || isReserved(ownKey) ? retryKey(id) : ownKey,
        isShared: false,
        node: '',
        request,
        state,
        ...fresh,
        ...times,
      }
      const bytes = bytesOf(textBytes(request), state)
      return soon(this.admission.enter(record, storedHolder(failed), bytes), (admitted) => {
        if (admitted.outcome === 'rejected') throw admitted.error
        if (admitted.outcome === 'exists') return admitted.head
        // Whichever node begins it counts it then.
        if (!this.isInMemory) this.bytes.delete(record.id)
        this.upkeep.due(now)
        return headOf(record)
      })
    })
  }
}

/** Whether a task has ended with a result or an error. */
function hasOutcome({ status }: TaskHead): boolean {
  return status === 'completed' || status === 'failed'
}
