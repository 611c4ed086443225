/** Collects data that arrives in parts. Grows by doubling, so that many small parts cost no more than a few large ones. */
export interface ByteBuffer {
  readonly length: number
  append(bytes: Uint8Array): void
  /** The collected bytes; they are overwritten after the next `clear`. */
  view(): Uint8Array
  clear(): void
}

const SMALLEST = 1024
/** A larger buffer is freed when it is cleared. */
const KEPT = 65_536

export function createByteBuffer(maxBytes: number): ByteBuffer {
  return new Bytes(maxBytes)
}

const NONE = new Uint8Array(0)

class Bytes implements ByteBuffer {
  readonly #maxBytes: number
  #held: Uint8Array = NONE
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get length(): number {
    return this.#length
  }

  append(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length
    if (needed > this.#held.length) this.#held = this.#grown(needed)
    this.#held.set(bytes, this.#length)
    this.#length = needed
  }

  view(): Uint8Array {
    return this.#held.subarray(0, this.#length)
  }

  clear(): void {
    this.#length = 0
    if (this.#held.length > KEPT) this.#held = NONE
  }

  #grown(needed: number): Uint8Array {
    const grown = new Uint8Array(Math.max(needed, Math.min(this.#maxBytes, needed * 2), SMALLEST))
    grown.set(this.#held.subarray(0, this.#length))
    return grown
  }
}
