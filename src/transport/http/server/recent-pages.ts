import { pause } from '../../../base/backoff.ts'
import type { Node } from '../../../nodes/node.ts'
import type { EventPage, EventStore } from '../../../rpc/event-store.ts'
import { afterMs, type Timer } from '../../io/timer.ts'

/** How many events are read at once. */
export const PAGE = 100
/** How long a large page is kept. */
const KEPT_MS = 1000
/** Pages with more characters are large, and how many characters of them are kept in all. */
const LARGE = 32_768
const MOST_KEPT = 8_388_608
/** How many characters the clients of one caller may resume from the store each millisecond, and how long one waits at most. */
const RATE = 32_768
const LONGEST_WAIT_MS = 1000

/** Where to read. */
export interface PagePlace {
  readonly session: string
  readonly stream: string
  readonly after: number
}

/** A client that resumes a stream. */
export interface Resuming {
  /** The caller or the network that its session is counted with. */
  readonly caller: string
  /** Whether the client is still there. */
  isWanted(): boolean
}

/** A page of events. */
export interface RecentPage {
  /** Undefined if there is no such stream. */
  readonly page: EventPage | undefined
  /** Whether it was read for another client, so that more may follow. */
  readonly isRecent: boolean
}

interface Kept {
  readonly page: EventPage
  readonly chars: number
  readonly until: number
}

/**
 * Reads the events of streams for clients. Some resume a stream with a large event again and again, and leave before they have read it. So
 * large pages are kept for a moment, and a caller whose clients resume much waits. What a page has is never changed, but more may follow.
 */
export class RecentPages {
  readonly #events: EventStore
  readonly #kept = new Map<string, Kept>()
  #chars = 0
  /** Until when each caller waits. */
  readonly #waits = new Map<string, number>()
  #timer: Timer

  constructor(events: EventStore) {
    this.#events = events
  }

  /** Reads a page; undefined if the client that resumes has left meanwhile. */
  async read(place: PagePlace, resuming?: Resuming): Promise<RecentPage | undefined> {
    const { session, stream, after } = place
    const key = `${session} ${stream} ${after}`
    if (resuming !== undefined && !this.#kept.has(key)) {
      await this.#wait(resuming.caller)
      if (!resuming.isWanted()) return undefined
    }
    const kept = this.#kept.get(key)
    if (kept !== undefined) return { page: kept.page, isRecent: true }
    const page = await this.#events.read(session, stream, after, PAGE)
    const chars = page === undefined ? 0 : charsIn(page)
    if (page !== undefined && chars > LARGE) {
      this.#keep(key, { page, chars, until: performance.now() + KEPT_MS })
      if (resuming !== undefined) this.#charge(resuming.caller, chars)
    }
    return { page, isRecent: false }
  }

  async #wait(caller: string): Promise<void> {
    const left = (this.#waits.get(caller) ?? 0) - performance.now()
    if (left > 0) await pause(Math.min(left, LONGEST_WAIT_MS))
  }

  #charge(caller: string, chars: number): void {
    const now = performance.now()
    this.#waits.set(caller, Math.max(now, this.#waits.get(caller) ?? 0) + chars / RATE)
    this.#sweepSoon()
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key)
    if (kept.chars > MOST_KEPT) return
    this.#kept.set(key, kept)
    this.#chars += kept.chars
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= MOST_KEPT) break
      this.#drop(oldest)
    }
    this.#sweepSoon()
  }

  #drop(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0
    this.#kept.delete(key)
  }

  #sweepSoon(): void {
    if (this.#timer !== undefined) return
    this.#timer = afterMs(KEPT_MS, () => this.#sweep())
    ;(this.#timer as { unref?(): void }).unref?.()
  }

  #sweep(): void {
    const now = performance.now()
    this.#timer = undefined
    for (const [key, { until }] of this.#kept) if (until <= now) this.#drop(key)
    for (const [caller, until] of this.#waits) if (until <= now) this.#waits.delete(caller)
    if (this.#kept.size + this.#waits.size > 0) this.#sweepSoon()
  }
}

const known = new WeakMap<Node, RecentPages>()

/** The pages that a node has read. */
export function pagesOf(node: Node): RecentPages {
  let pages = known.get(node)
  if (pages === undefined) known.set(node, (pages = new RecentPages(node.stores.events)))
  return pages
}

function charsIn({ events }: EventPage): number {
  let chars = 0
  for (const { text } of events) chars += text.length
  return chars
}
