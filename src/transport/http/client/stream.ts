import { nextTask } from '../../../base/next-task.ts'
import { createEventReader, type ReadEvent } from '../../../wire/sse-reader.ts'
import { chunksOf, readRest } from './body.ts'
import type { Count } from './holds.ts'

export interface StreamOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Receives the cancel function of a stream while its rest is read to reuse the connection. */
  readonly leftovers: Set<() => void>
  /** Counts the bytes of an event that is not complete. */
  readonly count?: Count | undefined
  /** Receives an event; true means that no more are wanted. */
  onEvent(event: ReadEvent): boolean
  onRetry(ms: number): void
  /** Called when an event was too large and is skipped, or when the stream is closed because it sends useless data. */
  onOversize(isEnd: boolean): void
}

/** Larger chunks are read in parts, so that others get a turn in between. */
const PART_BYTES = 16_384
/** Milliseconds after which others get a turn. */
const TURN_MS = 20
/** So do they after this many bytes, since the clock of a Worker stands still while data is at hand. An event counts as a kilobyte. */
const TURN_BYTES = 262_144
const EVENT_BYTES = 1024
/** A stream is closed if it has so many bytes without a message, in addition to the largest event: comments and the like. */
const MAX_USELESS = 4_194_304

const IDS_KEPT = 1000
const ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** Reads a stream until it ends or breaks, or no more events are wanted; says if it was the latter. Throws on abort. */
export async function readStream(response: Response, options: StreamOptions): Promise<boolean> {
  const { maxBytes, signal, count, onRetry } = options
  if (response.body === null) return false
  let enough = false
  /** The bytes since the last message. */
  let useless = 0
  let held = 0
  let turnBytes = 0
  let turnEnd = performance.now() + TURN_MS
  const onEvent = (event: ReadEvent): void => {
    turnBytes += EVENT_BYTES
    if (isMessageEvent(event)) useless = 0
    if (!enough) enough = options.onEvent(event)
  }
  const onOversize = (): void => {
    useless = 0
    options.onOversize(false)
  }
  const events = createEventReader({ maxBytes, onEvent, onRetry, onOversize })
  const reader = response.body.getReader()
  const chunks = chunksOf(reader, signal)
  try {
    for (;;) {
      const chunk = await chunks.next().catch((error: unknown) => {
        if (signal.aborted) throw error
      })
      if (chunk === undefined || chunk.done === true) return false
      for (let at = 0; at < chunk.value.length && !enough; at += PART_BYTES) {
        const part = chunk.value.subarray(at, at + PART_BYTES)
        useless += part.length
        turnBytes += part.length
        events.push(part)
        count?.(events.held - held)
        held = events.held
        if (!enough && (turnBytes > TURN_BYTES || performance.now() > turnEnd)) {
          await nextTask()
          turnBytes = 0
          turnEnd = performance.now() + TURN_MS
        }
        if (signal.aborted) throw signal.reason
      }
      if (!enough && useless <= maxBytes + MAX_USELESS) continue
      await chunks.return()
      if (enough) void readRest(reader, options.leftovers)
      else {
        void reader.cancel().catch(() => undefined)
        options.onOversize(true)
      }
      return enough
    }
  } finally {
    count?.(-held)
  }
}

/** The position in one stream, over all its connections. */
export class Place {
  readonly #before = new Set<string>()
  #now: string[] = []
  /** The event to resume from, if there is one. */
  lastId: string | undefined
  /** How long the server asked to wait before reconnecting. */
  retryMs: number | undefined
  /** Whether this connection delivered a new event, whether that held a message, and whether it asked to reconnect. */
  progressed = false
  heard = false
  asked = false

  /** Starts a new connection. Events from earlier ones are recognised if they are repeated. */
  begin(): void {
    for (const id of this.#now) {
      this.#before.delete(id)
      this.#before.add(id)
    }
    for (const oldest of this.#before) {
      if (this.#before.size <= IDS_KEPT) break
      this.#before.delete(oldest)
    }
    this.#now = []
    this.progressed = false
    this.heard = false
    this.asked = false
  }

  /** Advances to an event; says whether it is new. */
  reach(event: ReadEvent): boolean {
    const { id } = event
    if (id !== undefined) {
      this.lastId = ID.test(id) ? id : undefined
      if (this.#before.has(id)) return false
      if (this.lastId !== undefined) this.#now.push(id)
      if (this.#now.length > IDS_KEPT) this.#now.shift()
    }
    this.progressed = true
    this.heard ||= isMessageEvent(event)
    return true
  }

  ask(ms: number): void {
    this.retryMs = ms
    this.asked = true
  }
}

/** Whether an event carries a message. */
export function isMessageEvent({ data, event }: ReadEvent): boolean {
  return data !== '' && (event === undefined || event === 'message')
}
