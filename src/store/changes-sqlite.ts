import type { BusMessage, ChangeBus } from '../rpc/change-bus.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { Soon } from '../rpc/soon.ts'
import { BusReader, messagesAfter, type BusPage } from './bus-reader.ts'
import { BUS_PAGE } from './changes-memory.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { BUS_LOG, SqliteLog } from './sqlite-log.ts'
import { SqlitePoll } from './sqlite-poll.ts'
import type { LogRoom } from './text-log.ts'

/** Carries messages between processes in a file of SQLite. */
export class SqliteChangeBus implements ChangeBus {
  readonly nodes: NodeStore
  readonly #file: SqliteFile
  readonly #room: LogRoom
  readonly #log: SqliteLog
  readonly #poll: SqlitePoll
  readonly #readers = new Set<BusReader>()
  #isPassing = false

  constructor(file: SqliteFile, room: LogRoom, nodes: NodeStore) {
    this.nodes = nodes
    this.#file = file
    this.#room = room
    this.#log = new SqliteLog(file)
    this.#poll = new SqlitePoll(file, () => this.#pass())
  }

  async publish(text: string): Promise<number> {
    const seq = await this.#file.write(() => {
      this.#log.open(BUS_LOG, '')
      return this.#log.add(BUS_LOG, { text }, this.#room)
    })
    this.#poll.report()
    return (seq ?? 0) + 1
  }

  subscribe(
    after: number,
    onMessage: (message: BusMessage) => void,
    onGap: (position: number) => void,
  ): () => void {
    const reader = new BusReader(after, onMessage, onGap)
    this.#readers.add(reader)
    this.#poll.start()
    return () => {
      reader.stop()
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#poll.stop()
    }
  }

  position(): Soon<number> {
    return this.#file.read(() => this.#log.find(BUS_LOG)?.next ?? 0)
  }

  read(after: number, limit: number): Soon<readonly BusMessage[] | undefined> {
    return this.#file.read(() => messagesAfter(after, this.#page(after, limit)))
  }

  close(): void {
    this.#poll.stop()
  }

  #page(after: number, limit: number): BusPage {
    const { events = [], first = 0, next = 0 } = this.#log.read(BUS_LOG, after - 1, limit) ?? {}
    const messages = events.map(({ seq, text }) => ({ position: seq + 1, text }))
    return { before: first, newest: next, messages }
  }

  /** Brings all readers up to date. One that publishes meanwhile gets its own message later. */
  #pass(): void {
    if (this.#isPassing) return
    this.#isPassing = true
    try {
      for (const reader of this.#readers) {
        const next = (): BusPage => this.#file.readNow(() => this.#page(reader.after, BUS_PAGE))
        while (reader.takePage(next()));
      }
    } finally {
      this.#isPassing = false
    }
  }
}
