import type { SentChange } from '../rpc/changes.ts'

/** A change, and its position on the bus. */
export interface KnownChange {
  readonly position: number
  readonly change: SentChange
}

/** How many messages from before its start a node reads, and how many changes it remembers: otherwise it would read them for each session. */
export const REMEMBERED = 10_000

/** The last changes that a node knows. */
export class RecentChanges {
  #changes: KnownChange[] = []
  /** All changes after this position are among them. */
  #after = 0

  /** Forgets everything up to a position. */
  beginAfter(position: number): void {
    this.#changes = []
    this.#after = position
  }

  add(change: KnownChange): void {
    this.#changes.push(change)
    if (this.#changes.length <= 2 * REMEMBERED) return
    const forgotten = this.#changes.splice(0, REMEMBERED)
    this.#after = (forgotten.at(-1) as KnownChange).position
  }

  /** Whether all changes after a position are known. */
  hasAllAfter(position: number): boolean {
    return position >= this.#after
  }

  /** The changes after a position, up to another one. */
  between(after: number, upTo: number): readonly KnownChange[] {
    const from = this.#changes.findLastIndex(({ position }) => position <= after) + 1
    return this.#changes.slice(from).filter(({ position }) => position <= upTo)
  }
}
