/** The most questions that are remembered. Of those beyond, the time begins again. */
const MOST = 10_000
/** A client that did not look for so long, or for three times the interval of polls, had left. */
const PAUSE_MS = 60_000

interface Times {
  readonly since: number
  readonly last: number
}

/** The questions of tasks that clients look at without an answer, and since when. */
export class Unanswered {
  readonly #most: number
  /** By caller; the question and the caller that were looked at last are the last to be forgotten. */
  readonly #callers = new Map<string, Map<string, Times>>()
  #size = 0

  constructor(most: number = MOST) {
    this.#most = most
  }

  /** A client looks at a question. Says for how long clients have done so without a pause. */
  look(caller: string, question: string, now: number, pollMs: number): number {
    const own = this.#callers.get(caller) ?? new Map<string, Times>()
    const before = own.get(question)
    const isPaused = before === undefined || now - before.last > Math.max(PAUSE_MS, 3 * pollMs)
    const since = isPaused ? now : before.since
    this.delete(caller, question)
    this.#callers.delete(caller)
    this.#callers.set(caller, own.set(question, { since, last: now }))
    if (++this.#size > this.#most) this.#forgetOne()
    return now - since
  }

  delete(caller: string, question: string): void {
    const own = this.#callers.get(caller)
    if (own?.delete(question) !== true) return
    this.#size--
    if (own.size === 0) this.#callers.delete(caller)
  }

  /** Forgets a question of the caller with the most. */
  #forgetOne(): void {
    let most: readonly [caller: string, questions: ReadonlyMap<string, Times>] = ['', new Map()]
    for (const one of this.#callers) if (one[1].size > most[1].size) most = one
    const [caller, questions] = most
    const [oldest] = questions.keys()
    this.delete(caller, oldest as string)
  }
}
