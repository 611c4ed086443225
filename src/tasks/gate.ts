import { Deferred } from '../base/deferred.ts'

/** Lets a limited number of handlers run at once. The others wait in the order in which they came, after those that come back. */
class Gate {
  readonly #limit: number
  #running = 0
  readonly #waiting = new Set<() => void>()
  readonly #returning = new Set<() => void>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many could enter at once. */
  get free(): number {
    return this.#limit - this.#running - this.#waiting.size
  }

  /** Enters, and returns undefined, if there is a place; otherwise `start` is called, within the place, once there is one. Returns a function that gives up. */
  enter(start: () => void, returns = false): (() => void) | undefined {
    if (this.#running < this.#limit) {
      this.#running++
      return undefined
    }
    // Its own function, so that the same one can wait twice.
    const waiter = (): void => start()
    const queue = returns ? this.#returning : this.#waiting
    queue.add(waiter)
    return () => void queue.delete(waiter)
  }

  /** Leaves a place, which the next one takes. */
  leave(): void {
    const queue = this.#returning.size > 0 ? this.#returning : this.#waiting
    const [next] = queue
    if (next === undefined) {
      this.#running--
      return
    }
    queue.delete(next)
    next()
  }
}

/** The place of a handler, which others may have while it waits for an answer. */
export class Place {
  readonly #gate: Gate
  #isHeld = true
  #isOver = false
  #taking: Promise<void> | undefined
  #stop: (() => void) | undefined

  constructor(gate: Gate) {
    this.#gate = gate
  }

  /** Waits without the place, and then until there is one again. */
  async without<Value>(wait: Promise<Value>): Promise<Value> {
    if (this.#isHeld) this.#gate.leave()
    this.#isHeld = false
    try {
      return await wait
    } finally {
      await this.#take()
    }
  }

  /** The handler has ended. */
  end(): void {
    if (this.#isHeld) this.#gate.leave()
    this.#isHeld = false
    this.#isOver = true
    this.#stop?.()
  }

  /** The task has ended: a handler that waits goes on without a place, and one that runs keeps it until it ends. */
  giveUp(): void {
    if (!this.#isHeld) this.end()
  }

  #take(): Promise<void> | undefined {
    if (this.#isHeld || this.#isOver) return undefined
    if (this.#taking !== undefined) return this.#taking
    const taken = new Deferred<void>()
    const leave = this.#gate.enter(() => {
      this.#isHeld = true
      this.#taking = undefined
      this.#stop = undefined
      taken.resolve()
    }, true)
    this.#isHeld = leave === undefined
    if (leave === undefined) return undefined
    this.#stop = () => {
      leave()
      taken.resolve()
    }
    return (this.#taking = taken.promise)
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
