/** Lets one thing happen at a time for each key, in the order of the calls. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, act: () => Result | Promise<Result>): Promise<Result> {
    const turn = after(this.#last.get(key), act)
    this.#last.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    }
  }
}

async function after<Result>(
  before: Promise<unknown> | undefined,
  act: () => Result | Promise<Result>,
): Promise<Result> {
  await before?.catch(() => undefined)
  return act()
}
