import type { NewEvent, StoredEvent } from '../rpc/event-store.ts'
import type { Argument } from './redis-client.ts'
import type { RedisLink } from './redis-link.ts'
import { originalText, storedText } from './stored-text.ts'
import type { LogRoom } from './text-log.ts'
import { lifeMs, wholeMs } from './times.ts'

/** The keys of a log, which have the same tag. */
export interface LogKeys {
  readonly texts: string
  readonly head: string
  /** The names of all streams of the session. */
  readonly names: string
}

/** A part of a log. */
interface LogPage {
  readonly events: readonly StoredEvent[]
  readonly first: number
  readonly next: number
  readonly isOver: boolean
  readonly writer: string
}

/** The most events that are read at once. */
const MOST = 100_000

/** Streams of Redis whose entries have consecutive numbers. */
export class RedisLog {
  readonly #link: RedisLink
  /** With a number, it marks the texts of this driver, so that none is added twice. */
  readonly #writer: string = crypto.randomUUID().slice(0, 13)
  #added = 0

  constructor(link: RedisLink) {
    this.#link = link
  }

  /** Adds a text. A log without `idleMs` is created by its first one. */
  async add(
    { texts, head, names }: LogKeys,
    { text, isLast = false, position, seq, requests = [], givesUp = false }: NewEvent,
    { events, bytes, idleMs }: LogRoom & { readonly idleMs?: number },
  ): Promise<number | undefined> {
    const [stored, mark] = [storedText(text), `${this.#writer}-${++this.#added}`]
    const [idle, life] = idleMs === undefined ? ['', ''] : [wholeMs(idleMs), lifeMs(idleMs)]
    const owners = requests.map((one) => storedText(one))
    const numbers = [events, bytes, idle, isLast ? 1 : '', position ?? '', seq ?? '', life]
    const rest = [...numbers, givesUp ? 1 : '', ...owners]
    const reply = await this.#link.step((client, isRepeated) => {
      const values: readonly Argument[] = [texts, head, names, stored, mark, isRepeated ? 1 : '', ...rest]
      return this.#link.script(client, 'pierheadLogAdd', values)
    })
    return reply === null ? undefined : Number(reply)
  }

  /** The texts after a number; undefined if there is no such log. */
  async read({ texts, head }: LogKeys, after: number, limit: number): Promise<LogPage | undefined> {
    const reply = await this.#link.run(
      'pierheadLogRead',
      [texts, head],
      [after, Math.min(Math.max(1, limit), MOST)],
    )
    if (!Array.isArray(reply)) return undefined
    const [next, first, over, writer, list] = reply as readonly unknown[]
    const from = Math.max(after + 1, Number(first))
    const kept = list as readonly string[]
    return {
      events: kept.map((text, index) => ({ seq: from + index, text: originalText(text) })),
      first: Number(first),
      next: Number(next),
      isOver: over !== '',
      writer: originalText(String(writer)),
    }
  }
}
