import { BySize, type Sized } from '../base/by-size.ts'
import { Heap, type HeapEntry } from '../base/heap.ts'
import { textBytes } from '../base/weight.ts'
import type { EventHead, EventPage, EventRoom, EventStore, NewEvent } from '../rpc/event-store.ts'
import { removeEnded } from './ended.ts'
import type { Lifetime } from './lifetime.ts'
import { TextLog } from './text-log.ts'
import { streamKey, Watchers } from './watchers.ts'

/** How many bytes all streams may take together. Servers keep far fewer; this is for the process that keeps the streams of many workers. */
const MOST_BYTES = 268_435_456
/** What a stream takes besides its texts, and an event besides its text. */
const STREAM_OVERHEAD = 512
const EVENT_OVERHEAD = 128
/** Streams that live so long are logs of servers, which are never given up. */
const LASTING_MS = 30 * 86_400_000

class Stream implements Sized {
  readonly session: string
  readonly name: string
  readonly writer: string
  readonly isLasting: boolean
  readonly log: TextLog = new TextLog()
  isOver = false
  position: number | undefined
  /** The requests that are given up; most streams have none. */
  givenUp: Set<string> | undefined
  /** Its place among all, by the time of its end. */
  expiry!: HeapEntry<Stream>
  bytes = 0
  group = 0
  at = 0

  constructor(session: string, name: string, writer: string, isLasting: boolean) {
    this.session = session
    this.name = name
    this.writer = writer
    this.isLasting = isLasting
  }

  giveUp(requests: readonly string[]): void {
    this.givenUp ??= new Set()
    for (const one of requests) this.givenUp.add(one)
  }

  /** What it takes. */
  get size(): number {
    const { bytes, first, next } = this.log
    return STREAM_OVERHEAD + textBytes(this.writer) + bytes + (next - first) * EVENT_OVERHEAD
  }
}

/**
 * Keeps the events of streams in memory. Every method answers at once. If all streams together take too much, the largest ones lose all
 * events but their newest, and then go.
 */
export class MemoryEventStore implements EventStore {
  readonly isInMemory = true
  readonly #lifetime: Lifetime
  /** The streams of each session, by name. */
  readonly #sessions = new Map<string, Map<string, Stream>>()
  readonly #expiry = new Heap<Stream>()
  readonly #bySize = new BySize<Stream>()
  readonly #watchers = new Watchers()
  readonly #most: number
  #bytes = 0

  constructor(lifetime: Lifetime, mostBytes: number = MOST_BYTES) {
    this.#lifetime = lifetime
    this.#most = mostBytes
  }

  /** How many bytes all streams take. */
  get bytes(): number {
    return this.#bytes
  }

  open(session: string, stream: string, writer: string, { idleMs }: EventRoom): void {
    const now = this.#begin()
    let streams = this.#sessions.get(session)
    const found = streams?.get(stream)
    if (found !== undefined) return this.#expiry.move(found.expiry, now + idleMs)
    if (streams === undefined) this.#sessions.set(session, (streams = new Map()))
    const added = new Stream(session, stream, writer, idleMs >= LASTING_MS)
    added.expiry = this.#expiry.add(now + idleMs, added)
    streams.set(stream, added)
    this.#resize(added, added.size)
    this.#makeRoom()
    this.#watchers.notify(streamKey(session, stream))
  }

  append(session: string, stream: string, event: NewEvent, room: EventRoom): number | undefined {
    const now = this.#begin()
    const found = this.#find(session, stream)
    if (found === undefined) return undefined
    const { next } = found.log
    const { text, isLast = false, position, seq = next, requests = [], givesUp = false } = event
    if (seq < next) return seq
    if (seq > next || found.isOver) return undefined
    if (position !== undefined && position <= (found.position ?? -Infinity)) return undefined
    if (requests.some((one) => found.givenUp?.has(one))) return undefined
    if (givesUp) found.giveUp(requests)
    found.log.add(text, room)
    found.isOver = isLast
    found.position = position ?? found.position
    this.#expiry.move(found.expiry, now + room.idleMs)
    this.#resize(found, found.size)
    this.#makeRoom()
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

  head(session: string, stream: string): EventHead | undefined {
    this.#begin()
    const found = this.#find(session, stream)
    if (found === undefined) return undefined
    const { log, isOver, writer } = found
    return { first: log.first, next: log.next, isOver, writer }
  }

  position(session: string, stream: string): number | undefined {
    this.#begin()
    return this.#find(session, stream)?.position
  }

  trim(session: string, stream: string, before: number): void {
    this.#begin()
    const found = this.#find(session, stream)
    if (found === undefined) return
    found.log.trim(before)
    this.#resize(found, found.size)
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

  /** Counts a change of a stream. */
  #resize(stream: Stream, size: number): void {
    if (stream.isLasting) return
    this.#bytes += size - stream.bytes
    stream.bytes = size
    this.#bySize.put(stream)
  }

  #makeRoom(): void {
    while (this.#bytes > this.#most) this.#giveUp(this.#bySize.largest as Stream)
  }

  #giveUp(stream: Stream): void {
    const { log } = stream
    if (log.next - log.first < 2) return this.#remove(stream)
    log.trim(log.next - 1)
    this.#resize(stream, stream.size)
    this.#watchers.notify(streamKey(stream.session, stream.name))
  }

  #remove(stream: Stream): void {
    const { session, name, expiry } = stream
    this.#resize(stream, 0)
    const streams = this.#sessions.get(session)
    streams?.delete(name)
    if (streams?.size === 0) this.#sessions.delete(session)
    this.#expiry.remove(expiry)
    this.#watchers.notify(streamKey(session, name))
  }
}
