import { isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import type { Asker } from '../transport/http/server/auth-method.ts'

/** How many requests may wait for tokens to be verified at the same time. */
export interface QuestionLimits {
  /** Requests with tokens that were not accepted before. One address may take a quarter of what the others leave. */
  readonly unknown: number
  /**
   * Requests with tokens that were accepted before. They have their own limit, so that a flood of unknown tokens takes nothing from
   * them. One account may take a quarter of what the others leave, however many tokens it has.
   */
  readonly known: number
  /** Requests with the same token. */
  readonly perToken: number
  /** After this time an answer is given up. Some runtimes stop requests without notice, and with them what they wait for. */
  readonly lostMs: number
}

interface Question<Answer> {
  readonly answer: Promise<Answer>
  readonly at: number
  /** The requests that wait for it. */
  readonly askers: Asker[]
}

/** The tokens that are being verified: each once, however many requests wait for it, and for a limited number of requests. */
export class Questions<Answer> {
  readonly #limits: QuestionLimits
  /** In the order of their time. */
  readonly #open = new Map<string, Question<Answer>>()
  readonly #unknown = new Tally()
  readonly #known = new Tally()
  readonly #total = { known: 0, unknown: 0 }

  constructor(limits: QuestionLimits) {
    this.#limits = limits
  }

  /** Verifies a token, unless that is being done already; undefined if too many requests wait. */
  ask(token: string, asker: Asker, verify: () => Promise<Answer>): Promise<Answer> | undefined {
    const now = performance.now()
    for (const [lost, { at }] of this.#open) {
      if (now - at < this.#limits.lostMs) break
      this.#end(lost)
    }
    const open = this.#open.get(token)
    if (!this.#hasRoom(asker) || (open?.askers.length ?? 0) >= this.#limits.perToken) return undefined
    this.#count(asker, 1)
    if (open !== undefined) {
      open.askers.push(asker)
      return open.answer
    }
    const answer = verify().finally(() => {
      if (this.#open.get(token)?.answer === answer) this.#end(token)
    })
    this.#open.set(token, { answer, at: now, askers: [asker] })
    return answer
  }

  #hasRoom({ isKnown, sender }: Asker): boolean {
    const pool = isKnown ? 'known' : 'unknown'
    const taken = this.#taken(isKnown).get(sender)
    return isWithinShare(taken + 1, this.#total[pool] + 1, this.#limits[pool])
  }

  #end(token: string): void {
    const question = this.#open.get(token)
    if (question === undefined) return
    this.#open.delete(token)
    for (const asker of question.askers) this.#count(asker, -1)
  }

  #count({ isKnown, sender }: Asker, by: number): void {
    this.#total[isKnown ? 'known' : 'unknown'] += by
    this.#taken(isKnown).add(sender, by)
  }

  /** What each sender takes. */
  #taken(isKnown: boolean): Tally {
    return isKnown ? this.#known : this.#unknown
  }
}
