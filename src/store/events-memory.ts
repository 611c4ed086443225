import { Heap, type HeapEntry } from '../base/heap.ts'
import type { EventPage, EventRoom, EventStore, NewEvent } from '../rpc/event-store.ts'
import { removeEnded } from './ended.ts'
import type { Lifetime } from './lifetime.ts'
import { TextLog } from './text-log.ts'
import { streamKey, Watchers } from './watchers.ts'

class Stream {
  readonly session: string
  readonly name: string
  readonly writer: string
  readonly log: TextLog = new TextLog()
  isOver = false
  position: number | undefined
  /** Its place among all, by the time of its end. */
  expiry!: HeapEntry<Stream>

  constructor(session: string, name: string, writer: string) {
    this.session = session
    this.name = name
    this.writer = writer
  }
}

/** Keeps the events of streams in memory. Every method answers at once. */
export class MemoryEventStore implements EventStore {
  readonly #lifetime: Lifetime
  /** The streams of each session, by name. */
  readonly #sessions = new Map<string, Map<string, Stream>>()
  readonly #expiry = new Heap<Stream>()
  readonly #watchers = new Watchers()

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime
  }

  open(session: string, stream: string, writer: string, { idleMs }: EventRoom): void {
    const now = this.#begin()
    let streams = this.#sessions.get(session)
    const found = streams?.get(stream)
    if (found !== undefined) return this.#expiry.move(found.expiry, now + idleMs)
    if (streams === undefined) this.#sessions.set(session, (streams = new Map()))
    const added = new Stream(session, stream, writer)
    added.expiry = this.#expiry.add(now + idleMs, added)
    streams.set(stream, added)
    this.#watchers.notify(streamKey(session, stream))
  }

  append(session: string, stream: string, event: NewEvent, room: EventRoom): number | undefined {
    const now = this.#begin()
    const found = this.#find(session, stream)
    if (found === undefined) return undefined
    const { next } = found.log
    const { text, isLast = false, position, seq = next } = event
    if (seq < next) return seq
    if (seq > next || found.isOver) return undefined
    if (position !== undefined && position <= (found.position ?? -Infinity)) return undefined
    found.log.add(text, room)
    found.isOver = isLast
    found.position = position ?? found.position
    this.#expiry.move(found.expiry, now + room.idleMs)
    this.#watchers.notify(streamKey(session, stream))
    return next
  }

  read(session: string, stream: string, after: number, limit: number): EventPage | undefined {
    this.#begin()
    const found = this.#find(session, stream)
    if (found === undefined) return undefined
    const { log, writer } = found
    const events = log.after(after, limit)
    const isOver = found.isOver && (events.at(-1)?.seq ?? after) >= log.next - 1
    return { events, isOver, first: log.first, writer }
  }

  position(session: string, stream: string): number | undefined {
    this.#begin()
    return this.#find(session, stream)?.position
  }

  trim(session: string, stream: string, before: number): void {
    this.#begin()
    this.#find(session, stream)?.log.trim(before)
  }

  forget(session: string, stream?: string): void {
    this.#begin()
    const streams = this.#sessions.get(session)
    const gone = stream === undefined ? [...(streams?.values() ?? [])] : [streams?.get(stream)]
    for (const one of gone) if (one !== undefined) this.#remove(one)
  }

  watch(session: string, stream: string, onNews: () => void): () => void {
    this.#begin()
    return this.#watchers.add(streamKey(session, stream), onNews)
  }

  /** The time now, at which no expired stream is left. */
  #begin(): number {
    this.#lifetime.check()
    return removeEnded(this.#expiry, (stream) => this.#remove(stream))
  }

  #find(session: string, stream: string): Stream | undefined {
    return this.#sessions.get(session)?.get(stream)
  }

  #remove({ session, name, expiry }: Stream): void {
    const streams = this.#sessions.get(session)
    streams?.delete(name)
    if (streams?.size === 0) this.#sessions.delete(session)
    this.#expiry.remove(expiry)
    this.#watchers.notify(streamKey(session, name))
  }
}
