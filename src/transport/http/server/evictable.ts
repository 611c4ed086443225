/** How long nobody is looked for again once all that were found are gone. */
const PAUSE_MS = 1000

/** As much of a session as is needed here. */
interface Used {
  /** When it was last used. */
  readonly seen: number
}

interface Found<One> {
  /** When they were looked for. */
  readonly at: number
  /** The sessions, and when they were last used, the oldest last. */
  readonly left: { readonly session: One; readonly seen: number }[]
}

/**
 * Finds sessions to evict, those first that were unused for longest. All of an owner are looked for at once, so that newcomers do not cost
 * more because there are many sessions.
 */
export class Evictable<One extends Used> {
  readonly #isOne: (session: One) => boolean
  readonly #pauses: boolean
  readonly #found = new WeakMap<object, Found<One>>()

  /** `isOne` says whether a session is still there and may be evicted. With `pauses`, a session that could be evicted only since the last look is found up to a second later. */
  constructor(isOne: (session: One) => boolean, pauses: boolean) {
    this.#isOne = isOne
    this.#pauses = pauses
  }

  /** The next session among those of an owner; undefined if there is none. */
  next(items: Iterable<One>, now: number): One | undefined {
    const found = this.#found.get(items)
    const known = found && this.#take(found)
    if (known !== undefined) return known
    if (found !== undefined && this.#pauses && now - found.at < PAUSE_MS) return undefined
    return this.#take(this.#look(items, now))
  }

  /** Those that were used or ended since they were found do not count. */
  #take({ left }: Found<One>): One | undefined {
    for (let one = left.pop(); one !== undefined; one = left.pop()) {
      const { session, seen } = one
      if (session.seen === seen && this.#isOne(session)) return session
    }
    return undefined
  }

  #look(items: Iterable<One>, now: number): Found<One> {
    // Of those that were used at the same time, the first one is the oldest.
    const sessions = [...items].filter(this.#isOne).reverse()
    sessions.sort((one, other) => other.seen - one.seen)
    const found = { at: now, left: sessions.map((session) => ({ session, seen: session.seen })) }
    this.#found.set(items, found)
    return found
  }
}
