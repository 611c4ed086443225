import type { EventRoom, EventStore } from '../../../rpc/event-store.ts'
import { STANDALONE } from './sessions.ts'

/** How many events are read at once. */
const PAGE = 100
/** Tells apart the texts of one process. */
let marks = 0

/** The stream that a text is added to. */
export interface MarkedStream {
  readonly events: EventStore
  /** The id of the session. */
  readonly session: string
  readonly room: EventRoom
}

/** A text for the stream of a session, which has many writers. Its mark shows whether the store has it if the answer was lost. */
export class MarkedText {
  readonly #text: string
  readonly #mark: string
  readonly #requests: readonly string[]
  /** The store can have it only after this event; undefined if it cannot have it yet. */
  #after: number | undefined

  /** `node` is the number of the node that adds it. `requests` are those that it belongs to. */
  constructor(text: string, node: number, requests: readonly string[] = []) {
    this.#text = text
    this.#mark = `${node}-${++marks} `
    this.#requests = requests
  }

  /** Adds the text, unless the store has it, and answers its number; undefined if there is no such stream, or if one of its requests is given up. `last` is an event that the store has. */
  async add({ events, session, room }: MarkedStream, last: number = -1): Promise<number | undefined> {
    if (this.#after === undefined) this.#after = last
    else {
      const found = await this.#find(events, session, this.#after)
      if (found !== undefined) return found
    }
    const [text, requests] = [this.#mark + this.#text, this.#requests]
    return events.append(session, STANDALONE, requests.length === 0 ? { text } : { text, requests }, room)
  }

  /** Looks for the text. If that fails, the next search goes on where this one was. */
  async #find(events: EventStore, session: string, from: number): Promise<number | undefined> {
    for (let after = from; ;) {
      const page = await events.read(session, STANDALONE, after, PAGE)
      const found = page?.events.find(({ text }) => text.startsWith(this.#mark))
      if (found !== undefined) return found.seq
      const last = page?.events.at(-1)
      if (last === undefined) return undefined
      this.#after = after = last.seq
    }
  }
}

/** Whether a node has added a text to its stream. */
export function isMarkedBy(text: string, node: number): boolean {
  return text.startsWith(`${node}-`)
}

/** The message in a text of a stream. */
export function withoutMark(text: string): string {
  return text.startsWith('{') || text.startsWith('[') ? text : text.slice(text.indexOf(' ') + 1)
}
