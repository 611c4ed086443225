/** Lets a limited number of handlers run at once. The others wait in the order in which they came. */
class Gate {
  readonly #limit: number
  #running = 0
  readonly #waiting = new Set<() => void>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many could enter at once. */
  get free(): number {
    return this.#limit - this.#running - this.#waiting.size
  }

  /** Enters, and returns undefined, if there is a place; otherwise `start` is called, within the place, once there is one. Returns a function that gives up. */
  enter(start: () => void): (() => void) | undefined {
    if (this.#running < this.#limit) {
      this.#running++
      return undefined
    }
    // Its own function, so that the same one can wait twice.
    const waiter = (): void => start()
    this.#waiting.add(waiter)
    return () => void this.#waiting.delete(waiter)
  }

  /** Leaves a place, which the next one takes. */
  leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}

/** The gates of tools whose handlers run only so many at once. */
export class Gates {
  readonly #byTool = new Map<string, { readonly limit: number; readonly gate: Gate }>()

  /** The gate of a tool; undefined if any number may run. A new limit begins with an empty gate. */
  of(tool: string, limit: number): Gate | undefined {
    if (limit === Infinity) return undefined
    const known = this.#byTool.get(tool)
    if (known?.limit === limit) return known.gate
    const gate = new Gate(limit)
    this.#byTool.set(tool, { limit, gate })
    return gate
  }
}
