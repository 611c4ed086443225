/** The most questions that are remembered. Of those beyond, the time begins again. */
const MOST = 10_000
/** A client that did not look for so long, or for three times the interval of polls, had left. */
const PAUSE_MS = 60_000

/** The questions of tasks that clients look at without an answer, and since when. */
export class Unanswered {
  readonly #times = new Map<string, { readonly since: number; readonly last: number }>()

  /** A client looks at a question. Says for how long clients have done so without a pause. */
  look(question: string, now: number, pollMs: number): number {
    const before = this.#times.get(question)
    const isPaused = before === undefined || now - before.last > Math.max(PAUSE_MS, 3 * pollMs)
    const since = isPaused ? now : before.since
    // The one that was looked at last is the last to be forgotten.
    this.#times.delete(question)
    this.#times.set(question, { since, last: now })
    const [oldest] = this.#times.keys()
    if (this.#times.size > MOST) this.#times.delete(oldest as string)
    return now - since
  }

  delete(question: string): void {
    this.#times.delete(question)
  }
}
