const BITS = 2 ** 20

/** Notices names that a message has not had before. A few new ones are taken for known. */
export class NameFilter {
  readonly #seen = new Uint8Array(BITS / 8)
  /** So that nobody can choose names that are taken for each other. It is odd, so that no bit is lost. */
  readonly #factor = (Math.random() * 2 ** 32) | 1

  /** Adds the name from `from` to `to`, and returns whether it is new. */
  add(text: string, from: number, to: number): boolean {
    let hash = this.#factor
    for (let at = from; at < to; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), this.#factor)
      // Without that, one factor in fifty takes half of the names for each other.
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash, 0x2c1b3c6d)
    const bit = (hash ^ (hash >>> 12)) & (BITS - 1)
    const mask = 1 << (bit & 7)
    const byte = this.#seen[bit >> 3]!
    this.#seen[bit >> 3] = byte | mask
    return (byte & mask) === 0
  }
}
