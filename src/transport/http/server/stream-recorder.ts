import { textBytes } from '../../../base/weight.ts'
import { Steps } from '../../../nodes/steps.ts'
import type { EventRoom, EventStore } from '../../../rpc/event-store.ts'
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

/** Adds the events of a stream that only this node writes to the store, in the background and in order. */
export class StreamRecorder implements EventRecorder {
  readonly opened: Promise<void>
  readonly #options: RecorderOptions
  readonly #steps: Steps
  /** The bytes that wait. */
  #waiting = 0

  constructor(options: RecorderOptions) {
    this.#options = options
    this.#steps = new Steps((error) => options.onError(error))
    this.opened = new Promise((resolve) => this.#steps.add(() => this.#open().finally(resolve)))
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
  }

  async #open(): Promise<void> {
    const { events, session, name, writer, room } = this.#options
    await events.open(session, name, writer, room)
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
  }
}

/** The store has a stream that has ended no longer than this node counts it. */
function ended(room: EventRoom): EventRoom {
  return { ...room, idleMs: Math.min(room.idleMs, REPLICA_MS) }
}
