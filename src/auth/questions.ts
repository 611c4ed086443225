import { isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import type { Asker } from '../transport/http/server/auth-method.ts'

/** How many tokens may be verified at the same time. */
export interface QuestionLimits {
  /** Tokens that were not accepted before. One address may take a quarter of what the others leave. */
  readonly unknown: number
  /** Tokens that were accepted before. They have their own limit, so that a flood of unknown tokens takes nothing from them. */
  readonly known: number
  /** After this time an answer is given up. Some runtimes stop requests without notice, and with them what they wait for. */
  readonly lostMs: number
}

interface Question<Answer> {
  readonly answer: Promise<Answer>
  readonly at: number
  readonly asker: Asker
}

/** The tokens that are being verified: each once, however many requests have it, and a limited number in total. */
export class Questions<Answer> {
  readonly #limits: QuestionLimits
  /** In the order of their time. */
  readonly #open = new Map<string, Question<Answer>>()
  readonly #perSender = new Tally()
  #known = 0

  constructor(limits: QuestionLimits) {
    this.#limits = limits
  }

  /** Verifies a token, unless that is being done already; undefined if there are too many. */
  ask(token: string, asker: Asker, verify: () => Promise<Answer>): Promise<Answer> | undefined {
    const now = performance.now()
    for (const [lost, { at }] of this.#open) {
      if (now - at < this.#limits.lostMs) break
      this.#end(lost)
    }
    const open = this.#open.get(token)
    if (open !== undefined) return open.answer
    if (!this.#hasRoom(asker)) return undefined
    const answer = verify().finally(() => {
      if (this.#open.get(token)?.answer === answer) this.#end(token)
    })
    this.#open.set(token, { answer, at: now, asker })
    this.#count(asker, 1)
    return answer
  }

  #hasRoom({ isKnown, sender }: Asker): boolean {
    const { known, unknown } = this.#limits
    if (isKnown) return this.#known < known
    return isWithinShare(this.#perSender.get(sender) + 1, this.#open.size - this.#known + 1, unknown)
  }

  #end(token: string): void {
    const question = this.#open.get(token)
    if (question === undefined) return
    this.#open.delete(token)
    this.#count(question.asker, -1)
  }

  #count({ isKnown, sender }: Asker, by: number): void {
    if (isKnown) this.#known += by
    else this.#perSender.add(sender, by)
  }
}
