import { createEventReader, type ReadEvent } from '../../../wire/sse-reader.ts'
import { chunksOf, readRest } from './body.ts'

export interface StreamOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Receives the cancel function of a stream while its rest is read to reuse the connection. */
  readonly leftovers: Set<() => void>
  /** Receives an event; true means that no more are wanted. */
  onEvent(event: ReadEvent): boolean
  onRetry(ms: number): void
  /** Called when an event was too large and is skipped. */
  onOversize(): void
}

const IDS_KEPT = 1000
const ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** Reads a stream until it ends or breaks, or no more events are wanted; says if it was the latter. Throws on abort. */
export async function readStream(response: Response, options: StreamOptions): Promise<boolean> {
  const { maxBytes, signal, onRetry, onOversize } = options
  if (response.body === null) return false
  let enough = false
  const onEvent = (event: ReadEvent): void => {
    if (!enough) enough = options.onEvent(event)
  }
  const events = createEventReader({ maxBytes, onEvent, onRetry, onOversize })
  const reader = response.body.getReader()
  const chunks = chunksOf(reader, signal)
  for (;;) {
    const chunk = await chunks.next().catch((error: unknown) => {
      if (signal.aborted) throw error
    })
    if (chunk === undefined || chunk.done === true) return false
    events.push(chunk.value)
    if (!enough) continue
    await chunks.return()
    void readRest(reader, options.leftovers)
    return true
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
