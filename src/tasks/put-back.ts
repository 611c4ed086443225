import { soon } from '../base/soon.ts'
import type { TaskHead } from './record.ts'
import type { Soon, TaskStore } from './store.ts'

/** The most tasks that are remembered. Of those beyond, the pauses begin again, and the wall clock alone counts. */
const MOST = 10_000

/** A task that this process has put back into the store, until a time. */
export interface PutBackTask<Why> {
  readonly head: TaskHead
  /** The same time, as time that has elapsed: nobody can set that clock. */
  readonly at: number
  readonly why: Why
}

/** Tasks that this process has put back, each with the reason. Those that others have got since then stay until somebody looks at them. */
export class PutBack<Why> {
  readonly #store: TaskStore
  readonly #entries = new Map<string, PutBackTask<Why>>()

  constructor(store: TaskStore) {
    this.#store = store
  }

  get size(): number {
    return this.#entries.size
  }

  /** Why a task was put back; undefined if it was not. */
  get(id: string): Why | undefined {
    return this.#entries.get(id)?.why
  }

  /** The first tasks that were put back, at most so many. */
  *first(limit: number): Iterable<PutBackTask<Why>> {
    let count = 0
    for (const entry of this.#entries.values()) {
      if (count++ === limit) return
      yield entry
    }
  }

  /** Remembers a task, whose pause is over when so much time has elapsed. */
  add(head: TaskHead, at: number, why: Why): void {
    this.#entries.delete(head.id)
    this.#entries.set(head.id, { head, at, why })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST) this.#entries.delete(oldest as string)
  }

  delete(id: string): void {
    this.#entries.delete(id)
  }

  /** Lets a task begin at another time, unless somebody has got it. */
  move({ head, at, why }: PutBackTask<Why>, dueAt: number): Soon<void> {
    const { id, version } = head
    return soon(this.#store.change(id, version, { dueAt: Math.max(1, Math.round(dueAt)) }), (next) => {
      if (next === undefined) this.delete(id)
      else this.#entries.set(id, { head: next, at, why })
    })
  }

  /** Corrects the times of all tasks after the wall clock was set back. Answers the earliest of them. */
  async correct(now: number, elapsed: number): Promise<number> {
    const dues = [...this.#entries.values()].map(async (entry) => {
      const dueAt = now + Math.max(0, entry.at - elapsed)
      if (dueAt >= entry.head.dueAt) return Infinity
      await this.move(entry, dueAt)
      return dueAt
    })
    return (await Promise.all(dues)).reduce((least, at) => Math.min(least, at), Infinity)
  }
}
