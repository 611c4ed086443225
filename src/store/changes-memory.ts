import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import { BusReader, messagesAfter, type BusPage } from './bus-reader.ts'
import type { Lifetime } from './lifetime.ts'
import { TextLog, type LogRoom } from './text-log.ts'

/** How much a bus keeps for nodes that were away. */
export const BUS_ROOM: LogRoom = { events: 10_000, bytes: 64 * 1024 * 1024 }

/** How many messages are read at once. */
export const BUS_PAGE = 200

/** Carries messages between the servers of one process. Every method answers at once. */
export class MemoryChangeBus implements ChangeBus {
  readonly isInMemory = true
  readonly #lifetime: Lifetime
  readonly #room: LogRoom
  readonly #log = new TextLog()
  readonly #readers = new Set<BusReader>()
  #isPassing = false

  constructor(lifetime: Lifetime, room: LogRoom = BUS_ROOM) {
    this.#lifetime = lifetime
    this.#room = room
  }

  publish(text: string): number {
    this.#lifetime.check()
    this.#log.add(text, this.#room)
    const position = this.#log.next
    this.#pass()
    return position
  }

  subscribe(
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (position: number) => void,
  ): () => void {
    this.#lifetime.check()
    const reader = new BusReader(after, onMessage, onGap)
    this.#readers.add(reader)
    this.#pass()
    return () => {
      reader.stop()
      this.#readers.delete(reader)
    }
  }

  position(): number {
    this.#lifetime.check()
    return this.#log.next
  }

  read(after: number, limit: number): readonly BusMessage[] | undefined {
    this.#lifetime.check()
    return messagesAfter(after, this.#page(after, limit))
  }

  #page(after: number, limit: number): BusPage {
    const { first, next } = this.#log
    const messages = this.#log.after(after - 1, limit).map(({ seq, text }) => ({ position: seq + 1, text }))
    return { before: first, newest: next, messages }
  }

  /** Brings all readers up to date. Messages that they publish meanwhile follow, so that all read in the same order. */
  #pass(): void {
    if (this.#isPassing) return
    this.#isPassing = true
    try {
      for (let isBehind = true; isBehind;) {
        isBehind = false
        for (const reader of this.#readers) {
          if (reader.after === this.#log.next) continue
          reader.takePage(this.#page(reader.after, BUS_PAGE))
          isBehind = true
        }
      }
    } finally {
      this.#isPassing = false
    }
  }
}
