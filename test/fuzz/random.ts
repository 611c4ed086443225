/** Numbers that depend on nothing but the seed, the name and the index they were made for. */
export class Random {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(seed: number, name: string = '', index: number = 0) {
    this.#a = seed | 0
    this.#b = hashOf(name)
    this.#c = index | 0
    this.#d = Math.floor(index / 2 ** 32) | 1
    for (let round = 0; round < 12; round++) this.bits()
  }

  /** 32 random bits, as a number from 0. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** An integer from 0, below the limit. */
  below(limit: number): number {
    return Math.floor((this.bits() / 2 ** 32) * limit)
  }

  /** An integer between two, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** Small counts are likely, large ones possible. */
  few(most: number): number {
    return this.below(this.below(most) + 1)
  }

  list<Item>(most: number, make: () => Item): Item[] {
    return Array.from({ length: this.few(most + 1) }, make)
  }
}

function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return hash | 0
}
