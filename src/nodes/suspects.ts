interface Suspicion {
  /** When the node first seemed dead. */
  readonly since: number
  /** When it last seemed dead. */
  at: number
}

/** If nobody looked for so long, the node may have lived meanwhile. */
const FORGOTTEN_MS = 3_600_000

/**
 * Nodes that seem dead. One that could not reach the store for a moment seems so, too: it counts as dead only if it also seems so later, when it
 * has had the time for another sign of life. Looks for several sessions at the same time count once.
 */
export class Suspects {
  readonly #apartMs: number
  readonly #now: () => number
  readonly #all = new Map<number, Suspicion>()

  /** `apartMs` is how far apart two looks must be. */
  constructor(apartMs: number, now: () => number = () => performance.now()) {
    this.#apartMs = apartMs
    this.#now = now
  }

  /** Notes whether a node seemed alive at a look, and answers whether it counts as dead. */
  isDead(number: number, seemsAlive: boolean): boolean {
    const now = this.#now()
    for (const [one, { at }] of this.#all) if (now - at > FORGOTTEN_MS) this.#all.delete(one)
    if (seemsAlive) {
      this.#all.delete(number)
      return false
    }
    const known = this.#all.get(number)
    if (known === undefined) this.#all.set(number, { since: now, at: now })
    else known.at = now
    return known !== undefined && now - known.since >= this.#apartMs
  }
}
