import { mcpError } from '../errors/error.ts'
import { ASKED_TOO_OFTEN } from '../errors/limits.ts'

const MINUTE_MS = 60_000

/** Bounds how many questions a server asks within a minute, however fast they are answered. */
export class QuestionRate {
  readonly #limit: number
  readonly #now: () => number
  #since = -Infinity
  #count = 0

  constructor(limit: number, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#now = now
  }

  /** Counts a question, or throws if there were too many. */
  count(method: string): void {
    if (method === 'ping') return
    const now = this.#now()
    if (now - this.#since >= MINUTE_MS) {
      this.#since = now
      this.#count = 0
    }
    if (++this.#count <= this.#limit) return
    const retryAfterMs = this.#since + MINUTE_MS - now
    throw mcpError(ASKED_TOO_OFTEN, { limit: this.#limit }, { retryAfterMs })
  }
}
