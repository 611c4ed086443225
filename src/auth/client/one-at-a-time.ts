/** Runs functions with the same name one after the other, and those with different names at the same time. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs a function after those that were given before it, whether they succeed or not. */
  async run<Result>(name: string, take: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(name)
    const result = before === undefined ? take() : before.then(take)
    const ended = result.then(nothing, nothing)
    this.#last.set(name, ended)
    try {
      return await result
    } finally {
      if (this.#last.get(name) === ended) this.#last.delete(name)
    }
  }
}

function nothing(): void {}
