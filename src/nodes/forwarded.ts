import { Tally } from '../base/tally.ts'

const WINDOW_MS = 10_000
/** How many messages one caller may send to other nodes within that time. A long message counts once for every 64 KB. */
const MOST = 1000
const PART = 65_536

/** How much a message uses of its caller's allowance. */
export function sizeOf(text: string): number {
  return Math.ceil(text.length / PART)
}

/**
 * Counts the messages of callers that a node passes on because other nodes need them: answers to questions, cancellations, and subscriptions.
 * Every node reads them, so the number that one caller may send is limited.
 */
export class Forwarded {
  readonly #now: () => number
  readonly #counts = new Tally()
  #since = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Counts a message; false if the caller has sent too much. */
  take(caller: string, size: number): boolean {
    const now = this.#now()
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now
      this.#counts.clear()
    }
    if (this.#counts.get(caller) + size > MOST) return false
    this.#counts.add(caller, size)
    return true
  }
}
