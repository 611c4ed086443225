import { isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'

/** The memory that a task takes besides its texts. */
export const TASK_OVERHEAD = 512

interface Held {
  readonly holder: string
  bytes: number
}

/** The memory that tasks take, by task and by caller. */
export class TaskBytes {
  readonly #limit: number
  readonly #tasks = new Map<string, Held>()
  readonly #holders = new Tally()
  #total = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The bytes of all tasks. */
  get total(): number {
    return this.#total
  }

  /** Says how much a task takes from now on. False, and nothing changes, if it would be more than there is room for. */
  set(id: string, holder: string, bytes: number): boolean {
    const held = this.#tasks.get(id)
    const more = bytes - (held?.bytes ?? 0)
    if (more > 0 && !isWithinShare(this.#holders.get(holder) + more, this.#total + more, this.#limit))
      return false
    this.force(id, holder, bytes)
    return true
  }

  /** The same for a task that cannot be rejected any more. */
  force(id: string, holder: string, bytes: number): void {
    const held = this.#tasks.get(id)
    const more = bytes - (held?.bytes ?? 0)
    if (held === undefined) this.#tasks.set(id, { holder, bytes })
    else held.bytes = bytes
    this.#total += more
    this.#holders.add(holder, more)
  }

  /** Frees what a task takes. */
  delete(id: string): void {
    const held = this.#tasks.get(id)
    if (held === undefined) return
    this.#tasks.delete(id)
    this.#total -= held.bytes
    this.#holders.add(held.holder, -held.bytes)
  }
}
