import { createEventReader, type ReadEvent } from '../../../wire/sse-reader.ts'
import { chunksOf, readRest } from './body.ts'

export interface StreamOptions {
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Where streams that are only read to their end leave what cuts them. */
  readonly leftovers: Set<() => void>
  /** Takes an event; true means that no more are wanted. */
  onEvent(event: ReadEvent): boolean
  onRetry(ms: number): void
  /** An event was too large and is left out. */
  onOversize(): void
}

const IDS_KEPT = 1000
const ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?$/

/** Reads a stream until nothing more is wanted or comes, however it ends; says whether nothing more is wanted. Throws on abort. */
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

/** Where one stream has got to, over all connections that carried it. */
export class Place {
  readonly #before = new Set<string>()
  #now: string[] = []
  /** The event to resume from, if there is one. */
  lastId: string | undefined
  /** How long the server asked to wait before coming back. */
  retryMs: number | undefined
  /** Whether the present connection brought an event that is new, whether a message was in it, and whether it asked to come back. */
  progressed = false
  heard = false
  asked = false

  /** A new connection begins. What earlier ones brought is known, should it come again. */
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

  /** Goes on to an event; says whether it is new. */
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
