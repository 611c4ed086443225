import { textBytes, weigh } from '../base/weight.ts'

/** The most bytes that a run keeps of what the peer sent. */
const MOST_BYTES = 64_000_000

/** Something that keeps what the peer sent, such as a connection. */
export interface Keeper {
  /** Whether nothing more is said on it. */
  readonly isOver: boolean
  /** Forgets everything. */
  forget(): void
}

/** Bounds what a run keeps: the oldest connections that are over are forgotten first. */
export class Memory {
  #bytes = 0
  /** What each keeps, in the order in which they began. */
  readonly #shares = new Map<Keeper, number>()

  /** Makes room for a text and its value. Returns why there is none: what is kept belongs to open connections. */
  keep(keeper: Keeper, text: string, value: unknown): string | undefined {
    const bytes = textBytes(text) + weigh(value, MOST_BYTES)
    for (const [other, share] of this.#shares) {
      if (this.#bytes + bytes <= MOST_BYTES) break
      if (!other.isOver || other === keeper) continue
      other.forget()
      this.#shares.delete(other)
      this.#bytes -= share
    }
    if (this.#bytes + bytes > MOST_BYTES)
      return `the peer sent more than ${MOST_BYTES / 1_000_000} MB at once`
    this.#bytes += bytes
    this.#shares.set(keeper, (this.#shares.get(keeper) ?? 0) + bytes)
    return undefined
  }
}
