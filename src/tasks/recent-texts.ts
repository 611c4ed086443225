import type { TaskClock } from './clock.ts'

/** The memory for texts that were read, two bytes for each character, and how long one is kept. */
const MOST_BYTES = 33_554_432
const KEPT_MS = 2000

/** Keeps the outcomes of completed tasks for a moment after they were read: a client that polls on reads the same text, which never changes, again and again. */
export class RecentTexts {
  readonly #clock: TaskClock
  /** The oldest is the first. */
  readonly #texts = new Map<string, { readonly text: string; readonly until: number }>()
  #bytes = 0
  #timer: unknown

  constructor(clock: TaskClock) {
    this.#clock = clock
  }

  /** The outcome of a task, if it was read a moment ago. */
  get(id: string): string | undefined {
    return this.#texts.get(id)?.text
  }

  /** Keeps an outcome. */
  set(id: string, text: string): void {
    this.#delete(id)
    this.#texts.set(id, { text, until: this.#clock.elapsed() + KEPT_MS })
    this.#bytes += 2 * text.length
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= MOST_BYTES) break
      this.#delete(oldest)
    }
    this.#arm()
  }

  #arm(): void {
    const [oldest] = this.#texts.values()
    if (oldest === undefined || this.#timer !== undefined) return
    this.#timer = this.#clock.after(Math.max(0, oldest.until - this.#clock.elapsed()), () => {
      this.#timer = undefined
      for (const [id, { until }] of this.#texts) if (until <= this.#clock.elapsed()) this.#delete(id)
      this.#arm()
    })
  }

  #delete(id: string): void {
    this.#bytes -= 2 * (this.#texts.get(id)?.text.length ?? 0)
    this.#texts.delete(id)
  }
}
