import { TurnoverMap } from '../base/turnover-map.ts'

/** The calls that wait for tasks which other calls may join. A task that all of them gave up is needed by nobody, until one of them has got its id. */
export class Waiters {
  readonly #counts = new TurnoverMap<string, number>()

  /** A call has created a task. */
  begin(id: string): void {
    this.#counts.set(id, 1)
  }

  /** Another call waits for it. False if no call here has created it, or somebody has got its id. */
  join(id: string): boolean {
    const count = this.#counts.get(id)
    if (count !== undefined) this.#counts.set(id, count + 1)
    return count !== undefined
  }

  /** A call no longer waits. Says whether nobody needs the task. */
  giveUp(id: string): boolean {
    const count = this.#counts.get(id)
    if (count !== undefined && count > 1) this.#counts.set(id, count - 1)
    else this.#counts.delete(id)
    return count === 1
  }

  /** The task has ended, or somebody has got its id. */
  end(id: string): void {
    this.#counts.delete(id)
  }
}
