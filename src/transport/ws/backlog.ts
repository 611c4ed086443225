/** Who keeps a backlog, and how much of it. */
export interface Keeper {
  /** The most messages that are kept. */
  readonly maxEvents: number
  /** The most characters of them; a single message may have more. */
  readonly maxBytes: number
  /** A message is given up of which nobody knows whether it arrived. */
  forgot?(): void
  /** So many more characters are kept, or so many fewer. */
  kept?(chars: number): void
}

/**
 * What was sent to the other side of a session and is not known to have arrived. Messages have no numbers: both sides
 * count them, and the pong to a ping with a count says that all before it arrived.
 */
export class Backlog {
  readonly #keeper: Keeper
  #texts: string[] | undefined
  #size = 0
  #sent = 0
  /** The highest count that was asked about on this connection. */
  #asked = 0

  constructor(keeper: Keeper) {
    this.#keeper = keeper
  }

  /** How many messages were sent so far. */
  get sent(): number {
    return this.#sent
  }

  /** How many characters are kept. */
  get size(): number {
    return this.#size
  }

  /** How many messages were sent before those that are kept. */
  get forgotten(): number {
    return this.#sent - this.#length
  }

  /** Whether all is known to have arrived. */
  get isEmpty(): boolean {
    return this.#texts === undefined
  }

  /** Whether it is time to ask what arrived. */
  get isHalfFull(): boolean {
    const { maxEvents, maxBytes } = this.#keeper
    return this.#size * 2 > maxBytes || this.#length * 2 > maxEvents
  }

  /** Whether a message more makes it forget one. */
  get isFull(): boolean {
    return this.#length >= this.#keeper.maxEvents || this.#size > this.#keeper.maxBytes
  }

  /** Counts a message and keeps it. */
  add(text: string): void {
    const keeper = this.#keeper
    this.#sent++
    ;(this.#texts ??= []).push(text)
    this.#count(text.length)
    while (this.#length > 1 && (this.#length > keeper.maxEvents || this.#size > keeper.maxBytes)) {
      this.#drop(1)
      keeper.forgot?.()
    }
  }

  /** What to write into a ping to learn what arrived; undefined while that is being asked, or known. */
  question(): string | undefined {
    if (this.#texts === undefined || this.#asked > this.forgotten) return undefined
    this.#asked = this.#sent
    return String(this.#sent)
  }

  /** Takes what a pong brings back. */
  answer(payload: string): void {
    const count = readCount(payload)
    if (count !== undefined && count <= this.#asked) this.#arrived(count)
  }

  /** Whether all that follows so many messages is kept; false also when there never were so many. */
  reaches(count: number): boolean {
    return count >= this.forgotten && count <= this.#sent
  }

  /** What follows so many messages, to be sent over a new connection. */
  after(count: number): readonly string[] {
    this.#arrived(count)
    this.#asked = 0
    return this.#texts?.slice() ?? []
  }

  /** Gives up everything. */
  clear(): void {
    this.#arrived(this.#sent)
  }

  get #length(): number {
    return this.#texts === undefined ? 0 : this.#texts.length
  }

  #arrived(count: number): void {
    const news = count - this.forgotten
    if (news > 0) this.#drop(news)
  }

  #drop(count: number): void {
    const texts = this.#texts as string[]
    let chars = 0
    for (let at = 0; at < count; at++) chars += (texts[at] as string).length
    if (count === texts.length) this.#texts = undefined
    else texts.splice(0, count)
    this.#count(-chars)
  }

  #count(chars: number): void {
    this.#size += chars
    this.#keeper.kept?.(chars)
  }
}

/** A count as it is written in a header or a ping; undefined when it is none. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
