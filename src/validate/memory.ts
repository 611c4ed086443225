import { textBytes, weigh } from '../base/weight.ts'

/** The most bytes that a run keeps of what a server sent. */
const MOST_BYTES = 64_000_000
/** The most bytes that all visits of a client keep. */
export const MOST_VISITS_BYTES = 128_000_000
/** The bytes of an entry of the trace and what belongs to it, and of a header, without their texts. */
const ENTRY = 400
const HEADER = 32
/** The most bytes of the text of an entry: it is cut off. */
const MOST_ENTRY_BYTES = 4_000

/** Something that keeps what the peer sent, such as a connection. */
export interface Keeper {
  /** Whether nothing more is said on it. */
  readonly isOver: boolean
  /** Forgets everything. */
  forget(): void
}

/** The bytes of an entry of the trace. */
export function entryBytes(text: string, headers: Readonly<{ [name: string]: string }> = {}): number {
  return ENTRY + Math.min(textBytes(text), MOST_ENTRY_BYTES) + headerBytes(headers)
}

export function headerBytes(headers: Readonly<{ [name: string]: string }>): number {
  return Object.entries(headers).reduce(
    (sum, [name, value]) => sum + HEADER + textBytes(name) + textBytes(value),
    0,
  )
}

/** The bytes of a text and its value, or `most` if they are more. */
export function bytesOf(text: string, value: unknown, most: number): number {
  return Math.min(textBytes(text) + weigh(value, most), most)
}

/** Bounds what a run keeps: the oldest connections that are over are forgotten first. */
export class Memory {
  readonly #most: number
  #bytes = 0
  #isFull = false
  /** What each keeps, in the order in which they began. */
  readonly #shares = new Map<Keeper, number>()

  constructor(most: number = MOST_BYTES) {
    this.#most = most
  }

  /** Whether there was no room for something that would have been held. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Counts bytes that are kept until the end of the run. Returns whether there is room for them. */
  hold(bytes: number): boolean {
    if (this.#bytes + bytes > this.#most) this.#isFull = true
    else this.#bytes += bytes
    return !this.#isFull
  }

  /** Makes room for a text and its value. Returns why there is none: what is kept belongs to open connections. */
  keep(keeper: Keeper, text: string, value: unknown): string | undefined {
    const bytes = textBytes(text) + weigh(value, this.#most)
    for (const [other, share] of this.#shares) {
      if (this.#bytes + bytes <= this.#most) break
      if (!other.isOver || other === keeper) continue
      other.forget()
      this.#shares.delete(other)
      this.#bytes -= share
    }
    if (this.#bytes + bytes > this.#most)
      return `the peer sent more than ${this.#most / 1_000_000} MB at once`
    this.#bytes += bytes
    this.#shares.set(keeper, (this.#shares.get(keeper) ?? 0) + bytes)
    return undefined
  }
}
