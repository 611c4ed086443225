import type { SentChange } from '../rpc/changes.ts'

/** A change, and its position on the bus. */
export interface KnownChange {
  readonly position: number
  readonly change: SentChange
}

/** How many changes are remembered, and how many bytes their texts may have together. The newest one stays, whatever its size. */
export interface ChangeRoom {
  readonly changes: number
  readonly bytes: number
}

/** The last changes of some kind. */
export class RecentChanges {
  readonly #room: ChangeRoom
  #changes: KnownChange[] = []
  #bytes = 0
  /** All changes after this position are among them. */
  #after = 0

  constructor(room: ChangeRoom) {
    this.#room = room
  }

  /** The position after which all changes are known. */
  get after(): number {
    return this.#after
  }

  /** Forgets everything up to a position. */
  beginAfter(position: number): void {
    this.#changes = []
    this.#bytes = 0
    this.#after = position
  }

  add(change: KnownChange): void {
    this.#changes.push(change)
    this.#bytes += bytesOf(change)
    this.#forget()
  }

  /** Adds what another one knows of the time before, which must reach up to here. */
  prepend(older: RecentChanges, upTo: number): void {
    if (upTo < this.#after || older.#after >= this.#after) return
    const added = older.between(older.#after, this.#after)
    this.#changes = [...added, ...this.#changes]
    for (const change of added) this.#bytes += bytesOf(change)
    this.#after = older.#after
    this.#forget()
  }

  /** Whether all changes after a position are known. */
  hasAllAfter(position: number): boolean {
    return position >= this.#after
  }

  /** The changes after a position, up to another one. */
  between(after: number, upTo: number): readonly KnownChange[] {
    const from = this.#changes.findLastIndex(({ position }) => position <= after) + 1
    const to = this.#changes.findLastIndex(({ position }) => position <= upTo) + 1
    return this.#changes.slice(from, Math.max(from, to))
  }

  /** Forgets the oldest changes if there is too little room for all, and a tenth more, so that the others are moved seldom. */
  #forget(): void {
    const { changes, bytes } = this.#room
    if (this.#changes.length <= changes && this.#bytes <= bytes) return
    const last = this.#changes.length - 1
    let count = 0
    while (count < last && (this.#changes.length - count > changes * 0.9 || this.#bytes > bytes * 0.9))
      this.#bytes -= bytesOf(this.#changes[count++] as KnownChange)
    if (count === 0) return
    this.#after = (this.#changes[count - 1] as KnownChange).position
    this.#changes = this.#changes.slice(count)
  }
}

/** About how many bytes a change takes. */
export function bytesOf({ change }: KnownChange): number {
  if (change.kind === 'resource') return 64 + change.uri.length
  return change.kind === 'extension' ? JSON.stringify(change).length : 64
}
