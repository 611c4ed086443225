/** How many tokens are remembered, and how many characters they may have together. */
const MAX_TOKENS = 10_000
const MAX_CHARACTERS = 16_777_216

/** Something that is known of a token. */
export interface Kept {
  /** Whether it is kept, and neither forgotten nor replaced. */
  isKept: boolean
}

/** What is known of tokens, for a bounded number of them. Those that were added first are forgotten first. */
export class KnownTokens<Known extends Kept> {
  readonly #all = new Map<string, Known>()
  readonly #limit: number
  readonly #maxCharacters: number
  #characters = 0

  constructor(limit: number = MAX_TOKENS, maxCharacters: number = MAX_CHARACTERS) {
    this.#limit = limit
    this.#maxCharacters = maxCharacters
  }

  get size(): number {
    return this.#all.size
  }

  get(token: string): Known | undefined {
    return this.#all.get(token)
  }

  set(token: string, known: Known): void {
    this.delete(token)
    known.isKept = true
    this.#all.set(token, known)
    this.#characters += token.length
    for (const oldest of this.#all.keys()) {
      if (this.#all.size <= this.#limit && this.#characters <= this.#maxCharacters) return
      this.delete(oldest)
    }
  }

  delete(token: string): void {
    const known = this.#all.get(token)
    if (known === undefined) return
    known.isKept = false
    this.#all.delete(token)
    this.#characters -= token.length
  }
}
