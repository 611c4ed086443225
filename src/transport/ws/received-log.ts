import type { Node } from '../../nodes/node.ts'
import { idText, type RequestId } from '../../protocol/jsonrpc.ts'
import { idOf } from '../../rpc/call-table.ts'
import type { EventPage, EventRoom } from '../../rpc/event-store.ts'
import { askedId } from '../io/asked-id.ts'

/** What a node notes about messages that arrived. */
interface Note {
  readonly node: number
  /** How many arrived in the session so far. */
  readonly total: number
  /** The ids of the requests among them, as JSON. */
  readonly ids: readonly string[]
  /** All requests that were running before, in some notes. */
  readonly running?: readonly string[]
}

/** Messages that arrived together. */
interface Arrival {
  readonly session: string
  /** The number of the connection, and how many notes it made before. */
  readonly epoch: number
  readonly nth: number
  /** How many messages arrived in the session with these. */
  readonly total: number
  readonly texts: readonly string[]
  /** The requests that run, as JSON. */
  running(): readonly string[]
}

/** What is known about the last connection of a session. */
export interface Received {
  /** The number of the connection. */
  readonly epoch: number
  /** How many messages arrived in the session. */
  readonly total: number
  /** What may still run: requests of this connection, and of earlier ones whose logs were ended before the next one could open. */
  readonly runs: readonly Runs[]
}

/** The requests that a node may not have answered, as JSON. */
interface Runs {
  readonly node: number
  readonly ids: readonly string[]
}

/** Every so many notes, one has all running requests. */
const WHOLE_EVERY = 32
/** How many notes are kept: enough that one of them has all running requests. */
const KEPT = 2 * WHOLE_EVERY
const KEPT_BYTES = 1 << 20
/** How many connections may have begun since the store was asked for the last one. */
const MOST = 100

/** Notes how many messages of a session arrived over each of its connections. A log that has ended takes no more notes. */
export class ReceivedLog {
  readonly #node: Node
  readonly #room: EventRoom

  constructor(node: Node, idleMs: number) {
    this.#node = node
    this.#room = { events: KEPT, bytes: KEPT_BYTES, idleMs }
  }

  /** Begins the log of a connection. `total` is how many messages arrived before. Notes keep it alive. */
  async begin(session: string, epoch: number, total: number): Promise<void> {
    await this.#node.stores.events.open(session, nameOf(epoch), String(total), this.#room)
  }

  /** A step that notes messages, and may be repeated; it answers false if there is a later connection, and they do not count. */
  prepare({ session, epoch, nth, total, texts, running }: Arrival): () => Promise<boolean> {
    const { events } = this.#node.stores
    const note: Note = {
      node: this.#node.number,
      total,
      ids: texts.flatMap(idsIn).map(idText),
      ...(nth % WHOLE_EVERY === 0 && { running: running() }),
    }
    const text = JSON.stringify(note)
    let isTried = false
    return async () => {
      const wasTried = isTried
      isTried = true
      // A note that is there twice says the same.
      if ((await events.append(session, nameOf(epoch), { text }, this.#room)) !== undefined) return true
      if (!wasTried) return false
      const page = await events.read(session, nameOf(epoch), -1, KEPT)
      return page !== undefined && totalIn(page) >= total
    }
  }

  /** Ends the log of the last connection and begins the next one; undefined if there is none. `from` is a connection that was there. */
  async end(session: string, from: number): Promise<Received | undefined> {
    const { events } = this.#node.stores
    const runs: Runs[] = []
    for (let epoch = from; epoch < from + MOST; epoch++) {
      const ended = await events.append(session, nameOf(epoch), { text: '', isLast: true }, this.#room)
      const page = await events.read(session, nameOf(epoch), -1, KEPT)
      if (page === undefined) return undefined
      const total = totalIn(page)
      runs.push(...runsIn(page))
      await this.begin(session, epoch + 1, total)
      if (ended !== undefined) return { epoch, total, runs }
    }
    return undefined
  }
}

function nameOf(epoch: number): string {
  return `i${epoch}`
}

function notesIn({ events }: EventPage): readonly Note[] {
  return events.filter(({ text }) => text !== '').map(({ text }) => JSON.parse(text) as Note)
}

function totalIn(page: EventPage): number {
  return notesIn(page).at(-1)?.total ?? Number(page.writer)
}

function runsIn(page: EventPage): readonly Runs[] {
  const notes = notesIn(page)
  const ids = new Set<string>()
  for (const note of notes) {
    if (note.running !== undefined) ids.clear()
    for (const id of [...(note.running ?? []), ...note.ids]) ids.add(id)
  }
  return ids.size === 0 ? [] : [{ node: notes[0]!.node, ids: [...ids] }]
}

/** The ids of the requests in a text. */
function idsIn(text: string): readonly RequestId[] {
  const id = askedId(text)
  if (id !== undefined) return [id]
  if (!text.includes('"id"')) return []
  try {
    const read: unknown = JSON.parse(text)
    const all = Array.isArray(read) ? (read as readonly unknown[]) : [read]
    return all.flatMap((one) => idOf(one) ?? [])
  } catch {
    return []
  }
}
