import { isObject } from '../protocol/jsonrpc.ts'
import type { SentChange } from '../rpc/changes.ts'
import type { EventRoom } from '../rpc/event-store.ts'
import type { NodeStores } from './node-options.ts'
import { bytesOf, RecentChanges, type KnownChange } from './recent-changes.ts'

/** Changes of lists are few and short, so others do not share their room: those of resources, and news of extensions. */
export const CHANGE_CLASSES = ['lists', 'updates'] as const
export type ChangeClass = (typeof CHANGE_CLASSES)[number]

/** The session whose streams are the logs. */
const SESSION = 'changes'
/** How much a node remembers of each class. */
const REMEMBERED = { changes: 50_000, bytes: 16 * 1024 * 1024 }
/** How much a log keeps. */
const ROOM: EventRoom = { events: 10_000, bytes: 8 * 1024 * 1024, idleMs: 7 * 86_400_000 }
/** How many messages of the bus a part of a log is about. The bus keeps many more, so nodes may be late. */
export const PART_MESSAGES = 1000
/** About how many bytes a part has at most; if there are more, it is divided. */
const PART_BYTES = 131_072
/** How many parts are read at once. */
const PAGE = 20

/** How many places are remembered where changes are unknown. */
const MOST_UNKNOWN = 100

/** A part of a log: all changes of a class after a position, up to another one. */
interface Part {
  readonly after: number
  readonly upTo: number
  readonly changes: readonly KnownChange[]
}

/**
 * The changes of one class that sessions may have missed. A node remembers those that it has heard of, and a log that all nodes of a server
 * share has those from before its start. Other messages push changes off the bus, but not out of this log.
 */
export class ChangeLog {
  readonly name: ChangeClass
  readonly #stores: Pick<NodeStores, 'events' | 'changes'>
  readonly #stream: string
  readonly #recent = new RecentChanges(REMEMBERED)
  /** Where nobody knows all changes, the latest last. */
  #unknown: number[] = []
  #reading: Promise<void> | undefined
  /** Reads and writes of the log run one after the other. */
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  /** Whether the log is about messages that the bus has lost. */
  #isWrong = false

  constructor(name: ChangeClass, stores: Pick<NodeStores, 'events' | 'changes'>, server: string) {
    this.name = name
    this.#stores = stores
    this.#stream = `${name} ${server}`
  }

  /** Whether a change belongs here. */
  isFor({ change }: KnownChange): boolean {
    return classOf(change) === this.name
  }

  add(change: KnownChange): void {
    if (this.isFor(change)) this.#recent.add(change)
  }

  /** Forgets everything up to a position. Other nodes may have added it to the log. */
  beginAfter(position: number): void {
    this.#recent.beginAfter(position)
    this.#reading = undefined
  }

  /** Forgets everything up to a position, where some node had too many changes to list, so nobody knows them. */
  beginUnknown(position: number): void {
    this.beginAfter(position)
    this.#unknown.push(position)
    if (this.#unknown.length > MOST_UNKNOWN) this.#unknown.shift()
  }

  /** Whether it is certain that nobody knows all changes between two positions. */
  isUnknown(after: number, upTo: number): boolean {
    return this.#unknown.some((position) => position > after && position <= upTo)
  }

  hasAllAfter(position: number): boolean {
    return this.#recent.hasAllAfter(position)
  }

  between(after: number, upTo: number): readonly KnownChange[] {
    return this.#recent.between(after, upTo)
  }

  /** Remembers what the log has of the time before. Once is enough: later the log only loses some of it. */
  read(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading
    const reading = this.#writing
      .then(() => this.#read())
      .catch((error: unknown) => {
        if (this.#reading === reading) this.#reading = undefined
        throw error
      })
    return (this.#reading = reading)
  }

  /** Adds the changes up to a position to the log, unless another node has just done so. The node has heard of all messages up to there. */
  async write(upTo: number): Promise<void> {
    // If the store is slow, the next one writes more.
    if (this.#isWriting) return
    this.#isWriting = true
    await this.#next(() => this.#write(upTo))
    this.#isWriting = false
  }

  /** Forgets the log, because its positions mean other messages now. */
  forget(): Promise<void> {
    this.#isWrong = true
    this.#unknown = []
    return this.#next(() => this.#forget())
  }

  /** If the store is away, another node, or the next part, makes up for it. */
  #next(act: () => Promise<void>): Promise<void> {
    return (this.#writing = this.#writing.then(act).catch(() => undefined))
  }

  async #read(): Promise<void> {
    const older = new RecentChanges(REMEMBERED)
    // Parts of several nodes may overlap, and some may be missing in between.
    let upTo = -1
    for (let after = -1, isMore = true; isMore;) {
      const page = await this.#stores.events.read(SESSION, this.#stream, after, PAGE)
      for (const { text } of page?.events ?? []) {
        const part = readPart(text)
        if (part === undefined) continue
        if (part.after > upTo) older.beginAfter(part.after)
        for (const change of part.changes) if (change.position > upTo) older.add(change)
        upTo = Math.max(upTo, part.upTo)
      }
      after = page?.events.at(-1)?.seq ?? after
      isMore = page?.events.length === PAGE
    }
    if (upTo === -1) return
    if (upTo > (await this.#stores.changes.position())) return this.forget()
    this.#recent.prepend(older, upTo)
  }

  async #write(upTo: number): Promise<void> {
    const { events, changes } = this.#stores
    const last = await events.position(SESSION, this.#stream)
    // The bus may have lost its messages while no node was there to notice it.
    if (last !== undefined && last > upTo && last > (await changes.position())) this.#isWrong = true
    const known = this.#isWrong ? 0 : (last ?? 0)
    if (this.#isWrong) await this.#forget()
    else if (last !== undefined && upTo - last < PART_MESSAGES) return
    const from = Math.max(known, this.#recent.after)
    if (from >= upTo) return
    await events.open(SESSION, this.#stream, '', ROOM)
    for (const part of this.#parts(from, upTo))
      await events.append(SESSION, this.#stream, { text: JSON.stringify(part), position: part.upTo }, ROOM)
  }

  async #forget(): Promise<void> {
    await this.#stores.events.forget(SESSION, this.#stream)
    this.#isWrong = false
  }

  /** Divides the known changes between two positions into parts of limited size. */
  #parts(from: number, upTo: number): readonly Part[] {
    const parts: Part[] = []
    let [after, bytes] = [from, 0]
    let changes: KnownChange[] = []
    for (const change of this.#recent.between(from, upTo)) {
      changes.push(change)
      bytes += bytesOf(change)
      if (bytes < PART_BYTES || change.position === upTo) continue
      parts.push({ after, upTo: change.position, changes })
      ;[after, bytes, changes] = [change.position, 0, []]
    }
    return [...parts, { after, upTo, changes }]
  }
}

/** The class of a change. */
export function classOf({ kind }: SentChange): ChangeClass {
  return kind === 'resource' || kind === 'extension' ? 'updates' : 'lists'
}

/** Reads a part; undefined if it is not one, for example because a later version of the package wrote it. */
function readPart(text: string): Part | undefined {
  try {
    const part: unknown = JSON.parse(text)
    const isPart = isObject(part) && typeof part['after'] === 'number' && typeof part['upTo'] === 'number'
    return isPart && Array.isArray(part['changes']) ? (part as unknown as Part) : undefined
  } catch {
    return undefined
  }
}
