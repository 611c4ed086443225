import { textBytes } from '../../base/weight.ts'

/** The owner of a backlog, which sets its limits. */
export interface Keeper {
  /** The most messages to buffer. */
  readonly maxEvents: number
  /** The most bytes to buffer; a single message may have more. */
  readonly maxBytes: number
  /** Called when a message is discarded that may not have arrived. */
  forgot?(): void
  /** Called with every change in the number of buffered bytes. */
  kept?(bytes: number): void
}

/**
 * Messages sent to the other side of a session that are not known to have arrived. Messages have no numbers: both sides
 * count them, and the pong to a ping with a count confirms all messages before it.
 */
export class Backlog {
  readonly #keeper: Keeper
  #texts: string[] | undefined
  #size = 0
  #sent = 0
  /** The highest count that a ping asked about on this connection. */
  #asked = 0

  constructor(keeper: Keeper) {
    this.#keeper = keeper
  }

  /** The number of messages sent so far. */
  get sent(): number {
    return this.#sent
  }

  /** The number of buffered bytes. */
  get size(): number {
    return this.#size
  }

  /** The number of buffered messages. */
  get length(): number {
    return this.#texts === undefined ? 0 : this.#texts.length
  }

  /** The number of messages sent before the buffered ones. */
  get forgotten(): number {
    return this.#sent - this.length
  }

  /** Whether all messages are known to have arrived. */
  get isEmpty(): boolean {
    return this.#texts === undefined
  }

  /** Whether it is time to ask how many arrived. */
  get isHalfFull(): boolean {
    const { maxEvents, maxBytes } = this.#keeper
    return this.#size * 2 > maxBytes || this.length * 2 > maxEvents
  }

  /** Whether one more message would discard another. */
  get isFull(): boolean {
    return this.length >= this.#keeper.maxEvents || this.#size > this.#keeper.maxBytes
  }

  /** Counts a message and buffers it. */
  add(text: string): void {
    const keeper = this.#keeper
    this.#sent++
    ;(this.#texts ??= []).push(text)
    this.#count(textBytes(text))
    while (this.length > 1 && (this.length > keeper.maxEvents || this.#size > keeper.maxBytes)) {
      this.#drop(1)
      keeper.forgot?.()
    }
  }

  /** Replaces a buffered message, which still counts as one. */
  replace(text: string, by: string): void {
    const at = this.#texts?.indexOf(text) ?? -1
    if (at < 0) return
    this.#texts![at] = by
    this.#count(textBytes(by) - textBytes(text))
  }

  /** The payload of a ping that asks how many arrived; undefined while one is pending or all have arrived. */
  question(): string | undefined {
    if (this.#texts === undefined || this.#asked > this.forgotten) return undefined
    this.#asked = this.#sent
    return String(this.#sent)
  }

  /** Reads the payload of a pong. */
  answer(payload: string): void {
    const count = readCount(payload)
    if (count !== undefined && count <= this.#asked) this.#arrived(count)
  }

  /** Whether every message after the first `count` is buffered; false if fewer were sent. */
  reaches(count: number): boolean {
    return count >= this.forgotten && count <= this.#sent
  }

  /** The messages after the first `count`, to be sent over a new connection. */
  after(count: number): readonly string[] {
    this.#arrived(count)
    this.#asked = 0
    return this.#texts?.slice() ?? []
  }

  /** Discards everything. */
  clear(): void {
    this.#arrived(this.#sent)
  }

  #arrived(count: number): void {
    const news = count - this.forgotten
    if (news > 0) this.#drop(news)
  }

  #drop(count: number): void {
    const texts = this.#texts as string[]
    let bytes = 0
    for (let at = 0; at < count; at++) bytes += textBytes(texts[at] as string)
    if (count === texts.length) this.#texts = undefined
    else texts.splice(0, count)
    this.#count(-bytes)
  }

  #count(bytes: number): void {
    this.#size += bytes
    this.#keeper.kept?.(bytes)
  }
}

/** Reads a count from a header or a ping; undefined when it is not one. */
export function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
