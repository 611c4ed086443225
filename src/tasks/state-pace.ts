import type { TaskClock } from './clock.ts'

/** The bytes of answers that the tasks of a caller write without a pause, and in each millisecond after that. */
const BURST_BYTES = 67_108_864
const BYTES_PER_MS = 8_000
/** Writing fewer bytes costs no more than the request that brings an answer. */
const SHORT_BYTES = 65_536
/** A question writes the answers before it, and so does its answer. */
const WRITES = 2
/** The number of callers after which those that may write again are forgotten. */
const MANY = 1000

/**
 * Says how long a question waits before it is asked. Each question and each answer writes all earlier answers of its task again, so that a
 * client which answers much, and at once, would otherwise cause work that grows with the square of what it sends.
 */
export class StatePace {
  readonly #tasks: { readonly clock: Pick<TaskClock, 'elapsed'> }
  /** When a caller has paused long enough for all that its tasks wrote. */
  readonly #paidAt = new Map<string, number>()

  constructor(tasks: { readonly clock: Pick<TaskClock, 'elapsed'> }) {
    this.#tasks = tasks
  }

  /** Counts a question of a caller's task that has so many bytes of answers. Answers the milliseconds to wait. */
  ask(caller: string, answerBytes: number): number {
    if (answerBytes < SHORT_BYTES) return 0
    const now = this.#tasks.clock.elapsed()
    const paidAt = Math.max(now, this.#paidAt.get(caller) ?? now) + (WRITES * answerBytes) / BYTES_PER_MS
    if (this.#paidAt.size >= MANY)
      for (const [name, at] of this.#paidAt) if (at <= now) this.#paidAt.delete(name)
    this.#paidAt.set(caller, paidAt)
    return Math.max(0, Math.ceil(paidAt - now - BURST_BYTES / BYTES_PER_MS))
  }
}
