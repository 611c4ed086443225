import { inTurn } from '../base/turn.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isFinal } from '../protocol/task-status.ts'
import type { Peer } from '../rpc/call.ts'
import type { TaskHead } from '../tasks/record.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { detailed } from './task-methods.ts'

/** Milliseconds until a client that is behind is looked at again. */
const BEHIND_MS = 50
/** Milliseconds until a task that could not be read is looked at again. */
const AGAIN_MS = 10_000

/** A client that is notified of the changes of tasks. */
export interface TaskListener {
  readonly peer: Pick<Peer, 'dialect'>
  notify(task: JsonObject): void
  /** Whether the client has not read much of what was sent. */
  isBehind(): boolean
}

/**
 * Notifies a client of the changes of tasks: at once of each new status, and of other changes no more often than it may poll.
 * Results may be large, so they are read and sent one at a time, in turn with those for other clients, and as fast as the client reads.
 */
export function followTasks(tasks: Tasks, heads: readonly TaskHead[], listener: TaskListener): () => void {
  const stream = new Stream(tasks, listener)
  const stops = heads.map((head) => followTask(tasks, head, stream))
  return () => {
    stream.isOver = true
    for (const stop of stops) stop()
  }
}

/** The work of one server for all streams: one step at a time. */
const steps = new WeakMap<Tasks, Promise<unknown>>()

/** The notifications of one stream, one at a time. */
class Stream {
  isOver = false
  readonly #tasks: Tasks
  readonly #listener: TaskListener
  #last: Promise<void> = Promise.resolve()

  constructor(tasks: Tasks, listener: TaskListener) {
    this.#tasks = tasks
    this.#listener = listener
  }

  /** Sends a task when its turn comes. */
  send(head: TaskHead): Promise<void> {
    const sent = this.#last.then(() => this.#send(head))
    this.#last = sent.catch(() => undefined)
    return sent
  }

  async #send(head: TaskHead): Promise<void> {
    for (let isSent = false; !isSent;) {
      while (!this.isOver && this.#listener.isBehind())
        await new Promise<void>((resolve) => this.#tasks.clock.after(BEHIND_MS, resolve))
      if (this.isOver) return
      const before = steps.get(this.#tasks) ?? Promise.resolve()
      const step = before.then(() => this.#step(head))
      steps.set(
        this.#tasks,
        step.catch(() => undefined),
      )
      isSent = await step
    }
  }

  /** Sends a task, unless those before have left no room for it. */
  async #step(head: TaskHead): Promise<boolean> {
    const task = await inTurn(() =>
      this.isOver || this.#listener.isBehind() ? undefined : detailed(this.#tasks, head, this.#listener.peer),
    )
    if (task !== undefined && !this.isOver) this.#listener.notify(task)
    return task !== undefined
  }
}

function followTask(tasks: Tasks, first: TaskHead, stream: Stream): () => void {
  const { clock } = tasks
  let sent = first
  let sentAt = Number.NEGATIVE_INFINITY
  let timer: unknown
  let isBusy = false
  let isAgain = false
  // A client that listens for a task that needs it, or has ended, learns that at once.
  let isNew = first.status !== 'working'
  const unfollow = tasks.followers.add(first.id, () => void check())
  const stop = (): void => {
    unfollow()
    clock.clear(timer)
  }
  // It may have changed before.
  void check()
  return stop

  async function check(): Promise<void> {
    isAgain = true
    if (isBusy) return
    isBusy = true
    try {
      while (isAgain) {
        isAgain = false
        await look()
      }
    } catch (error) {
      tasks.reportFailure(error)
      // No change may follow that would make it look again.
      checkAfter(AGAIN_MS)
    } finally {
      isBusy = false
    }
  }

  function checkAfter(wait: number): void {
    if (stream.isOver) return
    timer ??= clock.after(wait, () => {
      timer = undefined
      void check()
    })
  }

  async function look(): Promise<void> {
    const head = await tasks.lookups.one(first.id, first.owner)
    if (head === undefined) return stop()
    if (head.version === sent.version && !isNew) return
    const wait = sentAt + head.pollMs - clock.now()
    if (head.status === sent.status && !isNew && wait > 0) {
      checkAfter(wait)
      return
    }
    isNew = true
    sent = head
    sentAt = clock.now()
    await stream.send(head)
    isNew = false
    if (isFinal(head.status)) stop()
  }
}
