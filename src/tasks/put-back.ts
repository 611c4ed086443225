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

/** Tasks that this process has put back, by id, each with the reason. Those that others have got since then stay until somebody looks at them. */
export class PutBack<Why> extends Map<string, PutBackTask<Why>> {
  /** Remembers a task as the last. */
  add(task: PutBackTask<Why>): void {
    this.delete(task.head.id)
    this.set(task.head.id, task)
    const [oldest] = this.keys()
    if (this.size > MOST) this.delete(oldest as string)
  }

  /** Lets a task begin at another time, unless somebody has got it. */
  move(store: TaskStore, task: PutBackTask<Why>, dueAt: number): Soon<void> {
    const { id, version } = task.head
    return soon(store.change(id, version, { dueAt: Math.ceil(dueAt) }), (head) => {
      if (head === undefined) this.delete(id)
      else this.set(id, { ...task, head })
    })
  }

  /** Corrects the times of all tasks after the wall clock was set back. Answers the earliest of them. */
  async correct(store: TaskStore, now: number, elapsed: number): Promise<number> {
    const dues = [...this.values()].map(async (task) => {
      const dueAt = now + Math.max(0, task.at - elapsed)
      if (dueAt < task.head.dueAt) await this.move(store, task, dueAt)
      return dueAt
    })
    return Math.min(...(await Promise.all(dues)))
  }
}
