import { orElse, soon } from '../base/soon.ts'
import type { TaskRunner } from './runner.ts'
import type { Soon } from './store.ts'

/** Milliseconds for which a node counts as alive, unless the store says otherwise, and the signs of life within that time. */
const LEASE_MS = 15_000
const SIGNS = 3
/** How often a sign of life that failed is tried again before the next one would be due. */
const TRIES = 5

/**
 * Says in the store that this node is alive. It has a timer of its own, so that nothing else that takes long makes other nodes take this one for
 * dead. In the memory of the process, one sign is enough.
 */
export class SignsOfLife {
  readonly #tasks: TaskRunner
  /** When the last one was given; undefined before the first. */
  #givenAt: number | undefined
  #giving: Promise<void> | undefined
  #isGoing = false
  #hasFailed = false
  #timer: unknown
  /** From when on tasks of other nodes may be claimed, by the time that has elapsed. */
  #claimsFrom = 0

  constructor(tasks: TaskRunner) {
    this.#tasks = tasks
  }

  /** Milliseconds between two of them. */
  get intervalMs(): number {
    return this.#leaseMs / SIGNS
  }

  /** Whether tasks of other nodes may be claimed. */
  get mayClaim(): boolean {
    return this.#tasks.clock.elapsed() >= this.#claimsFrom
  }

  /** Gives the first one, and goes on until `stop`. */
  start(): Soon<void> {
    this.#givenAt = undefined
    const begunAt = this.#tasks.clock.elapsed()
    return soon(this.#give(), () => {
      this.#isGoing = true
      this.#armSince(begunAt)
    })
  }

  /** Makes sure that the last one is not too old to claim anything: gives one if it is, or if the wall clock was set. */
  check(): Soon<void> {
    const age = this.#tasks.clock.now() - (this.#givenAt ?? 0)
    if (this.#tasks.isInMemory || (age >= 0 && age <= this.#longestMs)) return undefined
    return this.#give()
  }

  /** Gives none any more, and says that this node is dead: its tasks can be claimed at once. */
  async stop(): Promise<void> {
    const { store, node, clock } = this.#tasks
    if (!this.#isGoing) return
    this.#isGoing = false
    this.#disarm()
    await this.#giving?.catch(() => undefined)
    await store.beat(node, clock.now())
  }

  get #leaseMs(): number {
    return this.#tasks.store.leaseMs ?? LEASE_MS
  }

  /** Later than this, the next one comes too late. */
  get #longestMs(): number {
    return (SIGNS - 1) * this.intervalMs
  }

  #give(): Soon<void> {
    if (this.#giving !== undefined) return this.#giving
    const { store, node, isInMemory, clock } = this.#tasks
    const given = soon(clock.read?.(), () => {
      const now = clock.now()
      // The wall clock was set, the machine slept or the store was away: other nodes look dead until their next sign of life.
      if (now - (this.#givenAt ?? now) > this.#longestMs) this.#claimsFrom = clock.elapsed() + this.#leaseMs
      const until = isInMemory ? Number.MAX_SAFE_INTEGER : now + this.#leaseMs
      return soon(store.beat(node, until), () => void (this.#givenAt = now))
    })
    if (!(given instanceof Promise)) return given
    return (this.#giving = given.finally(() => {
      this.#giving = undefined
    }))
  }

  /** Gives the next one in time after one that was begun then. */
  #armSince(begunAt: number): void {
    this.#arm(Math.max(0, begunAt + this.intervalMs - this.#tasks.clock.elapsed()))
  }

  /** Gives the next one after some milliseconds. */
  #arm(afterMs: number): void {
    if (!this.#isGoing || this.#tasks.isInMemory) return
    this.#disarm()
    this.#timer = this.#tasks.clock.after(afterMs, () => this.#next())
  }

  #next(): void {
    const begunAt = this.#tasks.clock.elapsed()
    void orElse(
      () =>
        soon(this.#give(), () => {
          this.#hasFailed = false
          this.#armSince(begunAt)
        }),
      (error) => {
        if (!this.#hasFailed) this.#tasks.reportFailure(error)
        this.#hasFailed = true
        this.#arm(this.intervalMs / TRIES)
      },
    )
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#tasks.clock.clear(this.#timer)
    this.#timer = undefined
  }
}
