import type { EventHead, EventPage, EventRoom, EventStore, NewEvent } from '../rpc/event-store.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { Soon } from '../rpc/soon.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { logOf, SqliteLog } from './sqlite-log.ts'
import { SqlitePoll } from './sqlite-poll.ts'
import { streamKey, Watchers } from './watchers.ts'

/** Keeps the events of streams in a file of SQLite. */
export class SqliteEventStore implements EventStore {
  readonly nodes: NodeStore
  readonly #file: SqliteFile
  readonly #log: SqliteLog
  readonly #watchers = new Watchers()
  readonly #poll: SqlitePoll
  /** The streams with new watchers, who hear of a change at first. */
  readonly #fresh = new Set<string>()
  /** The last change that watchers have heard of. */
  #heard = 0

  constructor(file: SqliteFile, nodes: NodeStore) {
    this.nodes = nodes
    this.#file = file
    this.#log = new SqliteLog(file)
    this.#poll = new SqlitePoll(file, () => this.#pass())
  }

  async open(session: string, stream: string, writer: string, { idleMs }: EventRoom): Promise<void> {
    await this.#file.write(() => this.#log.open(logOf(session, stream), writer, idleMs))
    this.#watchers.notify(streamKey(session, stream))
  }

  async append(
    session: string,
    stream: string,
    event: NewEvent,
    room: EventRoom,
  ): Promise<number | undefined> {
    const seq = await this.#file.write(() => this.#log.add(logOf(session, stream), event, room))
    if (seq !== undefined) this.#watchers.notify(streamKey(session, stream))
    return seq
  }

  read(session: string, stream: string, after: number, limit: number): Soon<EventPage | undefined> {
    return this.#file.read(() => {
      const page = this.#log.read(logOf(session, stream), after, limit)
      if (page === undefined) return undefined
      const { events, first, next, writer } = page
      const isOver = page.isOver && (events.at(-1)?.seq ?? after) >= next - 1
      return { events, isOver, first, writer }
    })
  }

  head(session: string, stream: string): Soon<EventHead | undefined> {
    return this.#file.read(() => {
      const found = this.#log.find(logOf(session, stream))
      if (found === undefined) return undefined
      const { first, next, isOver, writer } = found
      return { first, next, isOver, writer }
    })
  }

  position(session: string, stream: string): Soon<number | undefined> {
    return this.#file.read(() => this.#log.find(logOf(session, stream))?.position)
  }

  async trim(session: string, stream: string, before: number): Promise<void> {
    await this.#file.write(() => this.#log.trim(logOf(session, stream), before))
  }

  async forget(session: string, stream?: string): Promise<void> {
    const name = logOf(session, stream ?? '')
    const one = stream === undefined ? undefined : name.stream
    const gone = await this.#file.write(() => this.#log.forget(name.session, one))
    for (const each of gone) this.#watchers.notify(streamKey(session, each))
  }

  watch(session: string, stream: string, onNews: () => void): () => void {
    const key = streamKey(session, stream)
    const remove = this.#watchers.add(key, onNews)
    this.#fresh.add(key)
    this.#poll.start()
    return () => {
      remove()
      if (this.#watchers.isEmpty) this.#poll.stop()
    }
  }

  close(): void {
    this.#poll.stop()
  }

  /** Wakes those whose streams have changed, and no others: there may be thousands, and each reads the file. */
  #pass(): void {
    const fresh = [...this.#fresh]
    const { last, streams } = this.#file.readNow(() => this.#log.changesAfter(this.#heard))
    if (streams === undefined) this.#watchers.notifyAll()
    else {
      const changed = streams.map(({ session, stream }) => streamKey(session, stream))
      for (const key of new Set([...fresh, ...changed])) this.#watchers.notify(key)
    }
    for (const key of fresh) this.#fresh.delete(key)
    this.#heard = last
  }
}
