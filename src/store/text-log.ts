import { textBytes } from '../base/weight.ts'
import type { StoredEvent } from '../rpc/event-store.ts'

/** How much a log keeps; the oldest texts go first. The newest one stays, whatever its size. */
export interface LogRoom {
  readonly events: number
  readonly bytes: number
}

/** Texts with consecutive numbers from 0 on, of which the oldest are dropped. */
export class TextLog {
  #texts: string[] = []
  /** How many texts at the front of the list were dropped. */
  #dropped = 0
  #first = 0
  #bytes = 0

  /** The number of the oldest text that is kept; that of the next one if none is. */
  get first(): number {
    return this.#first
  }

  /** The number that the next text gets. */
  get next(): number {
    return this.#first + this.#texts.length - this.#dropped
  }

  /** The bytes of the texts that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  add(text: string, room: LogRoom): void {
    this.#texts.push(text)
    this.#bytes += textBytes(text)
    while (this.next - this.#first > 1 && this.#isAbove(room)) this.#drop()
  }

  /** Drops the texts before a number. */
  trim(before: number): void {
    while (this.#first < before && this.#dropped < this.#texts.length) this.#drop()
  }

  /** The texts after a number. */
  after(seq: number, limit: number): readonly StoredEvent[] {
    const from = Math.max(seq + 1, this.#first)
    const place = from - this.#first + this.#dropped
    return this.#texts.slice(place, place + limit).map((text, index) => ({ seq: from + index, text }))
  }

  #isAbove({ events, bytes }: LogRoom): boolean {
    return this.next - this.#first > events || this.#bytes > bytes
  }

  #drop(): void {
    this.#bytes -= textBytes(this.#texts[this.#dropped] ?? '')
    this.#texts[this.#dropped++] = ''
    this.#first++
    // Moving the rest costs no more than the texts that were added since the last time.
    if (this.#dropped * 2 < this.#texts.length) return
    this.#texts = this.#texts.slice(this.#dropped)
    this.#dropped = 0
  }
}
