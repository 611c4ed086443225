// What the clients of a chaos test heard of changed lists. It shares no code with the server.
import type { AddFault } from './chaos-checker.ts'

/** A change of a list that every client has; `answeredAt` is infinite without an answer. */
interface Change {
  readonly sentAt: number
  answeredAt: number
}

/** What a client did and heard. */
export interface Listener {
  /** From when on it must hear of every change, and from when on it may. */
  readonly hearsFrom: number
  readonly openedAt: number
  /** When it sent the changes of its own resource. */
  readonly touches: readonly number[]
  /** The notifications of its stream, in their order. */
  readonly heard: readonly { readonly what: 'listed' | 'updated'; readonly at: number }[]
}

/** How long before it begins a session may hear of a change, because its node had not yet. */
const LATE_MS = 60_000

/** Follows the changes of lists, and compares them with what clients heard. */
export class ListChanges {
  readonly #changes: Change[] = []
  readonly #last = new Map<number, Change>()

  /** How many changes were asked for. */
  get count(): number {
    return this.#changes.length
  }

  /** A client asks for a change. */
  sent(client: number, at: number): void {
    const change = { sentAt: at, answeredAt: Infinity }
    this.#changes.push(change)
    this.#last.set(client, change)
  }

  /** The server has answered that the last change of a client is done. */
  answered(client: number, at: number): void {
    const change = this.#last.get(client)
    if (change !== undefined) change.answeredAt = at
  }

  /** Reports what a client did not hear, or heard too often, when it has read its stream to the end. */
  check(where: string, listener: Listener, add: AddFault): void {
    const { hearsFrom, openedAt, heard } = listener
    const certain = this.#changes.filter(
      ({ sentAt, answeredAt }) => sentAt > hearsFrom && answeredAt < Infinity,
    )
    const late = certain.find((change) => !isHeard(change, listener))
    const lists = heard.filter(({ what }) => what === 'listed').length
    const apart = countApart(certain)
    if (late !== undefined)
      add('lost event', `${where} did not hear in time of the list that changed at ${late.sentAt}`)
    else if (lists < apart) add('lost event', `${where} heard of ${lists} of ${apart} changed lists`)
    const most = this.#changes.filter(
      ({ sentAt, answeredAt }) => (answeredAt === Infinity ? sentAt : answeredAt) > openedAt - LATE_MS,
    ).length
    if (lists > most) add('duplicated event', `${where} heard of ${lists} of ${most} changed lists`)
  }
}

/**
 * Whether a client heard of a change after that was made, and before any change of its own resource that it made later: a change takes its
 * place in the stream when it is answered. The nth notification of its own resource is due to its nth change, or to a later one.
 */
function isHeard({ sentAt, answeredAt }: Change, { touches, heard }: Listener): boolean {
  let updates = 0
  for (const { what, at } of heard)
    if (what === 'listed') {
      if (at >= sentAt) return true
    } else if ((touches[updates++] ?? 0) > answeredAt) return false
  return false
}

/** How many changes were made one after the other. Those that were made at the same time may be announced together. */
function countApart(changes: readonly Change[]): number {
  let [count, until] = [0, -Infinity]
  for (const { sentAt, answeredAt } of changes.toSorted((a, b) => a.answeredAt - b.answeredAt))
    if (sentAt > until) {
      count++
      until = answeredAt
    }
  return count
}
