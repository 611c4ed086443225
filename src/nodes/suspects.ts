interface Suspicion {
  /** When the node first seemed dead. */
  readonly since: number
  /** When it last seemed dead. */
  at: number
}

/** If nobody looked for so long, the node may have lived meanwhile. */
const FORGOTTEN_MS = 3_600_000
/** How much of the time between two signs of life must lie between two looks: timers are not exact. */
const APART = 0.9
/** The store was away if so much more than the time between two signs of life lies between two. */
const AWAY = 1.5

/**
 * Nodes that seem dead. One that could not reach the store for a moment seems so, too: it counts as dead only if it also seems so later, when it
 * has had the time for another sign of life. Looks for several sessions at the same time count once.
 */
export class Suspects {
  readonly #beatMs: number
  readonly #now: () => number
  #reachedAt: number
  readonly #all = new Map<number, Suspicion>()

  /** `beatMs` is how often a node says that it is alive. */
  constructor(beatMs: number, now: () => number = () => performance.now()) {
    this.#beatMs = beatMs
    this.#now = now
    this.#reachedAt = now()
  }

  /** Notes that a node is certainly dead: the first look is enough. */
  confirm(number: number): void {
    this.#all.set(number, { since: Number.NEGATIVE_INFINITY, at: this.#now() })
  }

  /** Notes that a sign of life reached the store. If none did for long, nobody could give one, so what was seen until then means nothing. */
  reached(): void {
    const now = this.#now()
    if (now - this.#reachedAt > AWAY * this.#beatMs)
      for (const [number, { since }] of this.#all)
        if (since !== Number.NEGATIVE_INFINITY) this.#all.delete(number)
    this.#reachedAt = now
  }

  /** Whether a node is certainly dead, unless it turns out to be alive. */
  isConfirmed(number: number): boolean {
    return this.#all.get(number)?.since === Number.NEGATIVE_INFINITY
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
    return known !== undefined && now - known.since >= APART * this.#beatMs
  }
}
