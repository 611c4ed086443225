import type { BusMessage } from '../rpc/change-bus.ts'

/** A part of what a bus keeps. */
export interface BusPage {
  /** The position before the oldest message that is kept. */
  readonly before: number
  /** The position of the newest message. */
  readonly newest: number
  /** The messages that were asked for, without gaps. */
  readonly messages: readonly BusMessage[]
}

/** The messages after a position; undefined if some of them are not kept any more, or if the bus has lost that position. */
export function messagesAfter(after: number, page: BusPage): readonly BusMessage[] | undefined {
  return after < page.before || after > page.newest ? undefined : page.messages
}

/** One who reads the messages of a bus, in order and each once. */
export class BusReader {
  readonly #onMessage: (message: BusMessage) => void
  readonly #onGap: (position: number) => void
  #after: number
  #isStopped = false

  constructor(after: number, onMessage: (message: BusMessage) => void, onGap: (position: number) => void) {
    this.#after = after
    this.#onMessage = onMessage
    this.#onGap = onGap
  }

  /** The position of the last message that was read. */
  get after(): number {
    return this.#after
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Passes messages on, except those that were read before. Reports a gap if messages in between are missing. */
  take(messages: readonly BusMessage[]): void {
    for (const message of messages) {
      const { position } = message
      if (this.#isStopped) return
      if (position <= this.#after) continue
      if (position > this.#after + 1) this.skip(position - 1)
      this.#after = position
      this.#onMessage(message)
    }
  }

  /** Passes a page on that was read after the last message. Answers whether there may be more. */
  takePage({ before, newest, messages }: BusPage): boolean {
    if (this.#after > newest) this.skip(newest)
    else if (this.#after < before) this.skip(before)
    this.take(messages)
    return this.#after < newest && !this.#isStopped
  }

  /** Goes on after a position, because messages before it are lost. */
  skip(position: number): void {
    this.#after = position
    if (!this.#isStopped) this.#onGap(position)
  }
}
