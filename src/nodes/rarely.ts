/** Calls a function at most once in a while: at once if the last time is long ago, otherwise when the time has come. */
export class Rarely {
  readonly #act: () => void
  readonly #ms: number
  #lastAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number, act: () => void) {
    this.#ms = ms
    this.#act = act
  }

  /** Calls the function, now or later. */
  request(): void {
    const ms = this.#lastAt + this.#ms - performance.now()
    if (ms <= 0) return this.#act()
    this.#timer ??= setTimeout(() => this.flush(), ms)
    this.#timer.unref?.()
  }

  /** Calls the function now if it waits. */
  flush(): void {
    if (this.#timer === undefined) return
    this.stop()
    this.#act()
  }

  /** Begins to wait anew: the effect of the last call is there. */
  done(): void {
    this.#lastAt = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
