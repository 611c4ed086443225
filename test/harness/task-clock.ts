import type { TaskClock } from '../../src/tasks/clock.ts'

/** A clock that stands still until a test moves it. */
export class FakeClock implements TaskClock {
  #now = 1_000_000
  readonly #timers = new Map<number, { readonly at: number; readonly act: () => void }>()
  #next = 1

  now(): number {
    return this.#now
  }

  /** Moves the clock, but runs nothing. */
  set(now: number): void {
    this.#now = now
  }

  after(ms: number, act: () => void): number {
    this.#timers.set(this.#next, { at: this.#now + ms, act })
    return this.#next++
  }

  clear(timer: unknown): void {
    this.#timers.delete(timer as number)
  }

  /** The number of timers that wait. */
  get timers(): number {
    return this.#timers.size
  }

  /** Moves the clock, and runs what is due, in order; what that leads to runs too. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      await settled()
      const due = [...this.#timers]
        .filter(([, { at }]) => at <= end)
        .sort(([, one], [, other]) => one.at - other.at)
      const [first] = due
      if (first === undefined) break
      this.#timers.delete(first[0])
      this.#now = Math.max(this.#now, first[1].at)
      first[1].act()
    }
    this.#now = end
    await settled()
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
}
