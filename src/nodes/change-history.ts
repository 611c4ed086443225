import { CHANGE_CLASSES, ChangeLog, PART_MESSAGES, type ChangeClass } from './change-log.ts'
import type { NodeStores } from './node-options.ts'
import type { KnownChange } from './recent-changes.ts'

/** The changes after a position. */
export interface PastChanges {
  /** Those that are known, in order. */
  readonly changes: readonly KnownChange[]
  /** The classes of which some may be missing. */
  readonly lost: readonly ChangeClass[]
}

/** Everything may have changed. */
export const NOTHING_KNOWN: PastChanges = { changes: [], lost: CHANGE_CLASSES }

/** The changes that sessions may have missed, of all classes. */
export class ChangeHistory {
  readonly #logs: readonly ChangeLog[]
  /** The position at which the logs may need another part. */
  #nextPart = 0

  constructor(stores: Pick<NodeStores, 'events' | 'changes'>, server: string) {
    this.#logs = CHANGE_CLASSES.map((name) => new ChangeLog(name, stores, server))
  }

  /** Begins with the messages after a position. */
  start(position: number): void {
    this.beginAfter(position)
    this.#nextPart = afterPart(position)
  }

  /** Begins again after a position, because the bus has lost its messages, and positions are used again. */
  restart(position: number): void {
    this.start(position)
    for (const log of this.#logs) void log.forget()
  }

  /** Forgets everything up to a position. */
  beginAfter(position: number): void {
    for (const log of this.#logs) log.beginAfter(position)
  }

  /** Forgets the changes of some classes up to a position, where some node had too many of them to list. */
  beginUnknown(position: number, lost: readonly ChangeClass[]): void {
    for (const log of this.#logs) if (lost.includes(log.name)) log.beginUnknown(position)
  }

  /** Whether it is certain that neither the bus nor a log has all changes between two positions. */
  isUnknown(after: number, upTo: number): boolean {
    return this.#logs.some((log) => log.isUnknown(after, upTo))
  }

  add(change: KnownChange): void {
    for (const log of this.#logs) log.add(change)
  }

  /** Says that all messages up to a position were heard. Now and then, this lets nodes that start later know of the changes among them. */
  heard(position: number): void {
    if (position < this.#nextPart) return
    this.#nextPart = afterPart(position)
    for (const log of this.#logs) void log.write(position)
  }

  /** Whether the node remembers all changes after a position. */
  hasAllAfter(position: number): boolean {
    return this.#logs.every((log) => log.hasAllAfter(position))
  }

  /** The changes after a position, up to another one that the node has heard of. */
  async find(after: number, upTo: number): Promise<PastChanges> {
    const missing = this.#logs.filter((log) => !log.hasAllAfter(after) && !log.isUnknown(after, upTo))
    await Promise.all(missing.map((log) => log.read()))
    const known = this.#logs.filter((log) => log.hasAllAfter(after))
    const changes = known.flatMap((log) => log.between(after, upTo))
    return {
      changes: changes.sort((one, other) => one.position - other.position),
      lost: this.#logs.filter((log) => !known.includes(log)).map(({ name }) => name),
    }
  }
}

/** A position that is one part of a log after another, or somewhat more: nodes differ, so that mostly only one of them writes a part. */
function afterPart(position: number): number {
  return position + Math.ceil(PART_MESSAGES * (1 + Math.random()))
}
