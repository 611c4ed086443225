import { Heap, type HeapEntry } from '../../base/heap.ts'
import { shareOf } from '../../base/share.ts'
import { textBytes } from '../../base/weight.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { EventRoom } from '../../rpc/event-store.ts'
import type { Soon } from '../../rpc/soon.ts'

/** The stream of a session in a store, which keeps notifications until its client reads them. */
export interface NoticeStream {
  readonly session: string
  /** The caller or the network that the session is counted with. */
  readonly caller: string
  /** Discards the events before a number. */
  trim(before: number): Soon<void>
}

/** What a node knows of a stream that it adds to. */
interface Kept {
  readonly stream: NoticeStream
  events: number
  bytes: number
  /** The number after the last event that this node has added. */
  next: number
  /** When the store forgets the stream, unless others use it. */
  end: HeapEntry<Kept>
}

/** What an event takes in the store besides its text. */
const OVERHEAD = 128
/** Every stream keeps its newest events up to this size, so that a client that reads misses none. */
const LEAST = 4096

/**
 * Counts the notifications that one node adds to streams in a store, where clients find them when they come back. One caller gets a share of
 * what the others leave free. A stream for which nothing is left discards its oldest events for new ones. What was added is counted as
 * long as the store may keep it, also if this node has forgotten the session.
 */
export class NoticeBudget {
  readonly #limit: number
  readonly #streams = new Map<string, Kept>()
  readonly #ends = new Heap<Kept>()
  readonly #callers = new Map<string, number>()
  #total = 0

  constructor({ unsentBytes }: Pick<Limits, 'unsentBytes'>) {
    this.#limit = unsentBytes
  }

  /** How many bytes are counted. */
  get bytes(): number {
    return this.#total
  }

  /** Adds an event with the room that the stream has left. `append` answers its number, or undefined if the store has it from another node. */
  async add(
    stream: NoticeStream,
    text: string,
    room: EventRoom,
    append: (room: EventRoom) => Soon<number | undefined>,
  ): Promise<number | undefined> {
    this.#removeEnded()
    const granted = this.#roomOf(stream, room)
    const seq = await append(granted)
    // Another node may have added it with more room.
    this.#count(stream, textBytes(text), seq === undefined ? room : granted, seq)
    return seq
  }

  /** The store keeps a stream longer. */
  touch(session: string, { idleMs }: EventRoom): void {
    const kept = this.#streams.get(session)
    if (kept !== undefined) this.#ends.move(kept.end, performance.now() + idleMs)
  }

  /** A session has ended. */
  forget(session: string): void {
    const kept = this.#streams.get(session)
    if (kept === undefined) return
    this.#streams.delete(session)
    this.#ends.remove(kept.end)
    this.#change(kept, 0)
  }

  #roomOf({ session, caller }: NoticeStream, room: EventRoom): EventRoom {
    const { bytes: has = 0, events = 0 } = this.#streams.get(session) ?? {}
    const own = this.#callers.get(caller) ?? 0
    const left = shareOf(this.#limit - this.#total + own) - (own - has) - (events + 1) * OVERHEAD
    return left >= room.bytes ? room : { ...room, bytes: Math.min(room.bytes, Math.max(LEAST, left)) }
  }

  /** Counts an event, and what the stream has discarded for it. */
  #count(stream: NoticeStream, size: number, room: EventRoom, seq: number | undefined): void {
    const end = performance.now() + room.idleMs
    let kept = this.#streams.get(stream.session)
    if (kept === undefined) {
      const added: Omit<Kept, 'end'> = { stream, events: 0, bytes: 0, next: 0 }
      kept = added as Kept
      kept.end = this.#ends.add(end, kept)
      this.#streams.set(stream.session, kept)
    } else this.#ends.move(kept.end, end)
    if (seq !== undefined) kept.next = seq + 1
    // The sizes of single events are not known here, so the oldest count like all others.
    const all = kept.bytes - kept.events * OVERHEAD + size
    const most = all * Math.min(1, room.events / (kept.events + 1))
    const texts = Math.max(size, Math.min(most, room.bytes))
    const events = Math.max(1, Math.ceil(((kept.events + 1) * texts) / Math.max(all, 1)))
    kept.events = events
    this.#change(kept, texts + events * OVERHEAD)
  }

  #change(kept: Kept, bytes: number): void {
    const { caller } = kept.stream
    const more = bytes - kept.bytes
    kept.bytes = bytes
    this.#total += more
    const own = (this.#callers.get(caller) ?? 0) + more
    if (own < 1) this.#callers.delete(caller)
    else this.#callers.set(caller, own)
  }

  /** Forgets streams that this node has not used for so long that they are gone. Of those that other nodes use, what it added goes, since nobody counts it any longer. */
  #removeEnded(): void {
    const now = performance.now()
    for (let first = this.#ends.first; first !== undefined && first.at <= now; first = this.#ends.first) {
      const { stream, next } = first.item
      this.forget(stream.session)
      if (next > 0) void (async () => stream.trim(next))().catch(() => undefined)
    }
  }
}
