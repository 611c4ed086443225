/** A use of a session, with the texts by which the store knows it and its owner. */
export interface SessionUse {
  readonly id: string
  readonly owner: string
  /** How long it lives from now on. */
  readonly life: number
}

/** How long uses wait for others. */
export const USES_WAIT_MS = 50
/** So few that noting them takes the store well below a millisecond. */
const MOST_AT_ONCE = 100

/** Collects uses of sessions and notes them together: each session of many is used rarely, so nearly every request is a use to note. */
export class UsesTogether {
  readonly #note: (uses: readonly SessionUse[]) => Promise<void>
  #waiting: SessionUse[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(note: (uses: readonly SessionUse[]) => Promise<void>) {
    this.#note = note
  }

  /** No request waits for it. If it fails, the next use of the session follows soon. */
  add(use: SessionUse): void {
    this.#waiting.push(use)
    if (this.#waiting.length >= MOST_AT_ONCE) return this.noteNow()
    this.#timer ??= setTimeout(() => this.noteNow(), USES_WAIT_MS)
    this.#timer.unref?.()
  }

  /** Notes the uses that wait. */
  noteNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const uses = this.#waiting
    if (uses.length === 0) return
    this.#waiting = []
    this.#note(uses).catch(() => {})
  }
}
