import type { Node } from '../../nodes/node.ts'
import type { EventPage, EventRoom } from '../../rpc/event-store.ts'
import { messageHeads, type MessageHead } from '../../wire/message-heads.ts'
import { notedId } from '../http/server/noted-id.ts'
import { atMost, MOST_NOTED } from '../http/server/running-ids.ts'

/** What a node notes about messages that arrived. */
interface Note {
  readonly node: number
  /** How many arrived in the session so far. */
  readonly total: number
  /** The ids of the requests among them, as they are noted. */
  readonly ids: readonly string[]
  /** All requests that were running before, in some notes. */
  readonly running?: readonly string[]
  /** Whether the client ended its handshake with them: the node may die before the session says so. */
  readonly isReady?: true
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
  /** The requests that run, as they are noted. */
  running(): readonly string[]
}

/** What is known about the last connection of a session. */
export interface Received {
  /** The number of the connection. */
  readonly epoch: number
  /** How many messages arrived in the session. */
  readonly total: number
  /** Whether the client ended its handshake over this connection. */
  readonly isReady: boolean
  /** What may still run: requests of this connection, and of earlier ones whose logs were ended before the next one could open. */
  readonly runs: readonly Runs[]
}

/** The requests that a node may not have answered, as they are noted. */
interface Runs {
  readonly node: number
  readonly ids: readonly string[]
}

/** Every so many notes, one has all running requests. */
const WHOLE_EVERY = 32
/** How many notes are kept: enough that one of them has all running requests. */
const KEPT = 2 * WHOLE_EVERY
const KEPT_BYTES = 1 << 20
/** The most characters of the ids of requests that may still run at one node. A single note has fewer, so that others need not go. */
const MOST_RUNS = 4 * MOST_NOTED
/** How many logs stay after they have ended: connections that open at the same time, at several nodes, may still look for them. */
const ENDED = 8
/** How many connections may have begun since the store was asked for the last one. */
const MOST = 100

/** Notes how many messages of a session arrived over each of its connections. A log that has ended takes no more notes. */
export class ReceivedLog {
  readonly #node: Node
  readonly #room: EventRoom
  readonly #maxBatch: number

  constructor(node: Node, idleMs: number, maxBatch: number) {
    this.#node = node
    this.#room = { events: KEPT, bytes: KEPT_BYTES, idleMs }
    this.#maxBatch = maxBatch
  }

  /** Begins the log of a connection. `total` is how many messages arrived before. Notes keep it alive. */
  async begin(session: string, epoch: number, total: number): Promise<void> {
    await this.#node.stores.events.open(session, nameOf(epoch), String(total), this.#room)
  }

  /** A step that notes messages, and may be repeated; it answers false if there is a later connection, and they do not count. */
  prepare({ session, epoch, nth, total, texts, running }: Arrival): () => Promise<boolean> {
    const { events } = this.#node.stores
    const heads = texts.flatMap((one) => messageHeads(one, this.#maxBatch))
    const note: Note = {
      node: this.#node.number,
      total,
      ids: atMost(MOST_NOTED, idsIn(heads)),
      ...(nth % WHOLE_EVERY === 0 && { running: running() }),
      ...(heads.some(({ method }) => method === 'notifications/initialized') && { isReady: true }),
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

  /** Notes at the beginning of a log what still runs: a connection without messages would hide it from the next one. */
  async carryOver(session: string, { epoch, total }: Received, running: readonly string[]): Promise<void> {
    const note: Note = { node: this.#node.number, total, ids: [], running }
    const text = JSON.stringify(note)
    await this.#node.stores.events.append(session, nameOf(epoch + 1), { text }, this.#room)
  }

  /** Ends the log of the last connection and begins the next one; undefined if there is none. `from` is a connection that was there. */
  async end(session: string, from: number): Promise<Received | undefined> {
    const { events } = this.#node.stores
    const runs: Runs[] = []
    let isReady = false
    for (let epoch = from; epoch < from + MOST; epoch++) {
      const ended = await events.append(session, nameOf(epoch), { text: '', isLast: true }, this.#room)
      const page = await events.read(session, nameOf(epoch), -1, KEPT)
      if (page === undefined) return undefined
      const total = totalIn(page)
      runs.push(...runsIn(page))
      await this.begin(session, epoch + 1, total)
      if (epoch >= ENDED) await events.forget(session, nameOf(epoch - ENDED))
      isReady ||= notesIn(page).some((note) => note.isReady === true)
      if (ended !== undefined) return { epoch, total, isReady, runs }
    }
    return undefined
  }
}

function* idsIn(heads: readonly MessageHead[]): Iterable<string> {
  for (const { id } of heads) if (id !== undefined) yield notedId(id)
}

/** The requests that are known to run, once each. If their ids are too long together, some are only noted as present. */
export function joinRuns(...lists: readonly (readonly string[])[]): readonly string[] {
  return atMost(MOST_RUNS, lists.flat())
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
  return ids.size === 0 ? [] : [{ node: notes[0]!.node, ids: joinRuns([...ids]) }]
}
