import type { TaskClock } from '../../src/tasks/clock.ts'

/** A clock that stands still until a test moves it. */
export class FakeClock implements TaskClock {
  #elapsed = 0
  /** What the wall clock shows when nothing has elapsed. */
  #start = 1_000_000
  readonly #timers = new Map<number, { readonly at: number; readonly act: () => void }>()
  #next = 1

  now(): number {
    return this.#start + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** Sets the wall clock, as an operator could. No time passes. */
  set(now: number): void {
    this.#start = now - this.#elapsed
  }

  after(ms: number, act: () => void): number {
    this.#timers.set(this.#next, { at: this.#elapsed + ms, act })
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
    const end = this.#elapsed + ms
    for (;;) {
      await settled()
      const due = [...this.#timers]
        .filter(([, { at }]) => at <= end)
        .sort(([, one], [, other]) => one.at - other.at)
      const [first] = due
      if (first === undefined) break
      this.#timers.delete(first[0])
      this.#elapsed = Math.max(this.#elapsed, first[1].at)
      first[1].act()
    }
    this.#elapsed = end
    await settled()
  }
}

/** Lets everything run that waits for nothing but its turn. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
}
