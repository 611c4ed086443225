const SMALL = 16
const LONG = 64

/** Detects duplicate keys in one object during a scan. Created once and reused. */
export class Keys {
  /** One bit per kind of key seen, by length and outer characters: a clear bit proves that a key is new. */
  #seen = 0
  #count = 0
  readonly #from = new Int32Array(SMALL)
  readonly #to = new Int32Array(SMALL)
  /** Used when keys are many, long or escaped, so that the cost stays linear. */
  #names: Set<string> | undefined

  clear(): void {
    this.#seen = 0
    this.#count = 0
    this.#names = undefined
  }

  /** Adds the key between its quotes in `text`, from `from` to `to`, and returns whether it is a duplicate. */
  repeats(text: string, from: number, to: number): boolean {
    const length = to - from
    if (this.#names !== undefined || length > LONG || this.#count === SMALL)
      return this.#repeatsName(text, rawName(text, from, to))
    const outer = length === 0 ? 0 : text.charCodeAt(from) + 3 * text.charCodeAt(to - 1)
    const bit = 1 << ((length * 5 + outer) & 31)
    if ((this.#seen & bit) !== 0 && this.#holds(text, from, to)) return true
    this.#seen |= bit
    this.#from[this.#count] = from
    this.#to[this.#count] = to
    this.#count++
    return false
  }

  /** Like `repeats`, for a key with escapes. */
  repeatsDecoded(text: string, key: string): boolean {
    return this.#repeatsName(text, `"${key}`)
  }

  #holds(text: string, from: number, to: number): boolean {
    const length = to - from
    for (let index = 0; index < this.#count; index++) {
      const start = this.#from[index]!
      if (this.#to[index]! - start !== length) continue
      let same = 0
      while (same < length && text.charCodeAt(start + same) === text.charCodeAt(from + same)) same++
      if (same === length) return true
    }
    return false
  }

  #repeatsName(text: string, name: string): boolean {
    this.#names ??= this.#toNames(text)
    const { size } = this.#names
    return this.#names.add(name).size === size
  }

  #toNames(text: string): Set<string> {
    const names = new Set<string>()
    for (let index = 0; index < this.#count; index++)
      names.add(rawName(text, this.#from[index]!, this.#to[index]!))
    return names
  }
}

/** The opening quote stays: keys that look like array indices would hash predictably without it. */
function rawName(text: string, from: number, to: number): string {
  return text.slice(from - 1, to)
}
