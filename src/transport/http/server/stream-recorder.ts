import { Deferred } from '../../../base/deferred.ts'
import { textBytes } from '../../../base/weight.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom, EventStore } from '../../../rpc/event-store.ts'
import { afterMs } from '../../io/timer.ts'
import type { EventRecorder } from './event-stream.ts'
import { REPLICA_MS } from './shared-part.ts'

export interface RecorderOptions {
  readonly events: EventStore
  readonly session: string
  readonly name: string
  /** The node that writes the stream, and the response that its client gets if that node dies. */
  readonly writer: string
  readonly room: EventRoom
  onError(error: unknown): void
  /** Called when the last event is in the store, or when there will be no more. */
  onDone(): void
}

/** How long a reply waits until the store has its stream. */
const OPEN_MS = 15_000
/** How many bytes may wait for the store when a stream is trimmed. */
const MOST_WAITING = 65_536

/** Adds the events of a stream that only this node writes to the store, in the background and in order. */
export class StreamRecorder implements EventRecorder {
  readonly #opened = new Deferred<void>()
  readonly #options: RecorderOptions
  readonly #steps: Steps
  /** The bytes that wait. */
  #waiting = 0

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#steps = new Steps((error) => options.onError(error))
    this.#steps.add(() => this.#open())
    const timer = afterMs(OPEN_MS, () => this.#opened.resolve())
    void this.opened.then(() => clearTimeout(timer))
  }

  /**
   * Resolves when other nodes can find the stream: a client that saw an event of it may resume there. Nobody waits for ever for a store that is
   * away, or for a stream that will not be recorded.
   */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  get bytes(): number {
    return textBytes(this.#options.writer)
  }

  record(seq: number, text: string, isLast: boolean): void {
    const { events, session, name, room } = this.#options
    const bytes = textBytes(text)
    this.#waiting += bytes
    if (this.#waiting > room.bytes) return this.#giveUp()
    this.#steps.add(async () => {
      await events.append(session, name, { text, seq, isLast }, isLast ? ended(room) : room)
      this.#waiting -= bytes
      if (isLast) this.#options.onDone()
    })
  }

  /** Discards the events before a number. If many of them wait for the store, the stream is discarded: it must not take them after others had to go. */
  trim(before: number): void {
    const { events, session, name } = this.#options
    if (this.#waiting > MOST_WAITING) this.#giveUp()
    else this.#steps.add(() => events.trim(session, name, before))
  }

  /** Prolongs the life of the stream in the store. */
  touch(): void {
    if (this.#steps.size === 0) this.#steps.add(() => this.#open())
  }

  /** Resolves when the store has all events. */
  done(): Promise<void> {
    return this.#steps.done()
  }

  stop(): void {
    this.#steps.stop()
    this.#opened.resolve()
  }

  async #open(): Promise<void> {
    const { events, session, name, writer, room } = this.#options
    await events.open(session, name, writer, room)
    this.#opened.resolve()
  }

  forget(): void {
    const { events, session, name } = this.#options
    this.#steps.add(async () => {
      await events.forget(session, name)
      this.#steps.stop()
      this.#options.onDone()
    })
  }

  /** The store has been away for too long: clients can resume the stream only here. */
  #giveUp(): void {
    this.#steps.clear()
    this.forget()
    this.#opened.resolve()
  }
}

/** The store has a stream that has ended no longer than this node counts it. */
function ended(room: EventRoom): EventRoom {
  return { ...room, idleMs: Math.min(room.idleMs, REPLICA_MS) }
}
