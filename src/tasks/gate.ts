import { Deferred } from '../base/deferred.ts'
import { soon } from '../base/soon.ts'
import { mcpError } from '../errors/error.ts'
import { TASK_CANCELLED } from '../errors/tasks.ts'
import { anonymousNetwork, ownerOf } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import { NOBODY } from './bytes.ts'
import type { Run } from './run.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

const ignore = (): void => undefined

/** What a caller has waiting: handlers that go on, and after them those that have not begun. */
interface Waiting {
  readonly returning: Set<() => void>
  readonly fresh: Set<() => void>
}

/** Handlers that wait for a place. Callers take turns, so that one with many keeps nobody else waiting for all of them; those of one caller stay in order. */
class Turns {
  /** The one that is served next is the first. */
  readonly #callers = new Map<string, Waiting>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds one of a caller. Returns a function that removes it. */
  add(caller: string, kind: keyof Waiting, waiter: () => void): () => void {
    const own = this.#callers.get(caller) ?? { returning: new Set(), fresh: new Set() }
    this.#callers.set(caller, own)
    own[kind].add(waiter)
    this.#size++
    return () => this.#remove(caller, own, waiter)
  }

  /** Removes the next one. */
  take(): (() => void) | undefined {
    for (const [caller, own] of this.#callers) {
      const [next] = own.returning.size > 0 ? own.returning : own.fresh
      this.#callers.delete(caller)
      this.#callers.set(caller, own)
      if (next !== undefined) this.#remove(caller, own, next)
      return next
    }
    return undefined
  }

  #remove(caller: string, own: Waiting, waiter: () => void): void {
    if (!own.returning.delete(waiter) && !own.fresh.delete(waiter)) return
    this.#size--
    if (own.returning.size + own.fresh.size === 0) this.#callers.delete(caller)
  }
}

/** Whose turn the handler of a run takes: that of an authenticated caller, or of the network of anonymous ones. */
export function turnOf({ holder, call }: Run): string {
  if (holder !== NOBODY) return holder.network ?? holder.name
  return anonymousNetwork(call.source) ?? ownerOf(call.source.auth)
}

/** Lets a limited number of handlers run at once. The callers of the others take turns. */
class Gate {
  readonly #limit: number
  #running = 0
  readonly #waiting = new Turns()
  /** How many tasks of the store may join those that wait. */
  #owed = 1

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many could enter at once. */
  get free(): number {
    return this.#limit - this.#running - this.#waiting.size
  }

  /** How many tasks of the store may come: as many as could enter at once; while others wait, one for each of those that enters, so that they get their turns. */
  get open(): number {
    return this.#waiting.size === 0 ? this.free : this.#owed
  }

  /** Tasks of the store have come. */
  came(count: number): void {
    this.#owed = Math.max(0, this.#owed - count)
  }

  /** Enters, and returns undefined, if there is a place; otherwise `start` is called, within the place, once there is one. Returns a function that gives up. */
  enter(run: Run, kind: keyof Waiting, start: () => void): (() => void) | undefined {
    if (this.#running < this.#limit) {
      this.#running++
      return undefined
    }
    // Its own function, so that the same one can wait twice.
    return this.#waiting.add(turnOf(run), kind, () => start())
  }

  /** Leaves a place, which the next one takes. */
  leave(): void {
    const next = this.#waiting.take()
    if (next === undefined) this.#running--
    else {
      this.#owed = Math.min(this.#limit, this.#owed + 1)
      next()
    }
  }
}

/** The place of a handler, which others may have while it waits for answers: until none of its waits is left. */
export class Place {
  readonly #gate: Gate
  readonly #run: Run
  #isHeld = true
  #waits = 0
  #isOver = false
  #taking: Promise<void> | undefined
  #stop: (() => void) | undefined

  constructor(gate: Gate, run: Run) {
    this.#gate = gate
    this.#run = run
  }

  /** Waits without the place, and then until there is one again, unless the handler waits for something else, too. */
  async without<Value>(wait: Promise<Value>): Promise<Value> {
    this.#waits++
    this.#drop()
    try {
      return await wait
    } finally {
      this.#waits--
      // Answers that come together end their waits together.
      await Promise.resolve()
      if (this.#waits === 0) await this.#take()
    }
  }

  /** The handler has ended. */
  end(): void {
    this.#isOver = true
    this.#drop()
  }

  /** The task has ended: a handler that waits goes on without a place, and one that runs keeps it until it ends. */
  giveUp(): void {
    if (!this.#isHeld) this.end()
  }

  /** Leaves the place, or stops waiting for it. */
  #drop(): void {
    if (this.#isHeld) this.#gate.leave()
    this.#isHeld = false
    this.#stop?.()
  }

  #take(): Promise<void> | undefined {
    if (this.#isHeld || this.#isOver) return undefined
    if (this.#taking !== undefined) return this.#taking
    const taken = new Deferred<void>()
    const leave = this.#gate.enter(this.#run, 'returning', () => {
      this.#isHeld = true
      this.#taking = undefined
      this.#stop = undefined
      taken.resolve()
    })
    this.#isHeld = leave === undefined
    if (leave === undefined) return undefined
    this.#stop = () => {
      this.#taking = this.#stop = undefined
      leave()
      taken.resolve()
    }
    return (this.#taking = taken.promise)
  }
}

/** The gates of tools whose handlers run only so many at once. */
export class Gates {
  readonly #tasks: TaskRunner
  readonly #byTool = new Map<string, { readonly limit: number; readonly gate: Gate }>()
  /** Runs whose records say, or are about to say, that they wait. */
  readonly #marked = new WeakSet<Run>()

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** How many tasks of a tool may be claimed. */
  openFor(tool: string): number {
    return this.#ofTool(tool)?.open ?? Infinity
  }

  /** Tasks of a tool were claimed. */
  came(tool: string, count: number): void {
    this.#ofTool(tool)?.came(count)
  }

  /** Runs a handler once there is a place for it; never if its task is given back before that. */
  enter(run: Run, work: () => Result | Promise<Result>): Result | Promise<Result> {
    if (run.isOver) throw mcpError(TASK_CANCELLED, {})
    const gate = run.plan === undefined ? undefined : this.#of(run.tool, run.plan.concurrency)
    if (gate === undefined && !run.isWithheld) {
      run.hasBegun = true
      return work()
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        run.giveUp = run.leaveGate = undefined
        run.hasBegun = true
        const place = (run.place = new Place(gate as Gate, run))
        const done = new Promise<Result>((begun) => begun(work()))
        done.then(resolve, reject).finally(() => {
          place.end()
          this.#tasks.upkeep.freed(run.tool)
        })
      }
      const leaveBy = (leave: () => void) => (): void => {
        run.giveUp = undefined
        leave()
        reject(mcpError(TASK_CANCELLED, {}))
      }
      const enter = (): void => {
        run.leaveGate = undefined
        if (!this.#isMarked(run)) return start()
        run.giveUp = leaveBy(() => gate?.leave())
        this.#unmark(run, start)
      }
      run.leaveGate = run.isWithheld ? ignore : gate?.enter(run, 'fresh', enter)
      if (run.leaveGate === undefined) return enter()
      run.giveUp = leaveBy(() => run.leaveGate?.())
      this.mark(run)
    })
  }

  /** When the task of a run, which is about to be created, may begin elsewhere if this process dies before its handler begins: a task that waits has such a time. */
  dueAtOf(run: Run, now: number): number {
    const free = this.#ofTool(run.tool)?.free ?? Infinity
    const mustWait = !run.hasBegun && run.leaveGate === undefined && free <= 0
    return mustWait && !this.#tasks.isInMemory ? Math.max(1, now) : 0
  }

  /** Writes into the record of a run that waits for a place that its handler has not begun: then another process may begin it, even if it cannot be repeated. */
  mark(run: Run): void {
    const tasks = this.#tasks
    if (run.leaveGate === undefined || run.isWithheld || tasks.isInMemory) return
    if (run.head === undefined || this.#isMarked(run)) return
    this.#marked.add(run)
    const dueAt = Math.max(1, tasks.clock.now())
    tasks.unawaited(() => run.write('attempt', () => ({ dueAt }), true))
  }

  #isMarked(run: Run): boolean {
    return this.#marked.has(run) || (run.head?.dueAt ?? 0) > 0
  }

  /** Begins a handler once its record says so. */
  #unmark(run: Run, start: () => void): void {
    const tasks = this.#tasks
    const written = (isWritten: boolean): Soon<void> => {
      if (!isWritten || run.isOver || run.giveUp === undefined) return undefined
      return run.isWithheld ? tasks.giveBack(run) : start()
    }
    const write = (): Soon<boolean> => run.write('attempt', () => ({ dueAt: 0 }), true)
    tasks.unawaited(() => tasks.upkeep.insist(run, () => soon(write(), written)))
  }

  #ofTool(tool: string): Gate | undefined {
    return this.#of(tool, this.#tasks.host.planOf(tool)?.concurrency ?? Infinity)
  }

  /** The gate of a tool; undefined if any number may run. A new limit begins with an empty gate. */
  #of(tool: string, limit: number): Gate | undefined {
    if (limit === Infinity) return undefined
    const known = this.#byTool.get(tool)
    if (known?.limit === limit) return known.gate
    const gate = new Gate(limit)
    this.#byTool.set(tool, { limit, gate })
    return gate
  }
}
