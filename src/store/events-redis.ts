import type { EventHead, EventPage, EventRoom, EventStore, NewEvent } from '../rpc/event-store.ts'
import type { NodeStore } from '../rpc/node-store.ts'
import type { RedisLink } from './redis-link.ts'
import { RedisLog, type LogKeys } from './redis-log.ts'
import type { RedisNews } from './redis-news.ts'
import { originalText, storedText } from './stored-text.ts'
import { lifeMs } from './times.ts'

/** Keeps the events of streams in Redis, each in a stream of its own beside its session. */
export class RedisEventStore implements EventStore {
  readonly nodes: NodeStore
  readonly #link: RedisLink
  readonly #log: RedisLog
  readonly #news: RedisNews

  constructor(link: RedisLink, news: RedisNews, nodes: NodeStore) {
    this.nodes = nodes
    this.#link = link
    this.#log = new RedisLog(link)
    this.#news = news
  }

  async open(session: string, stream: string, writer: string, { idleMs }: EventRoom): Promise<void> {
    const { texts, head, names } = this.#keys(session, stream)
    const values = [storedText(stream), storedText(writer), lifeMs(idleMs)]
    await this.#link.run('pierheadLogOpen', [texts, head, names], values)
  }

  append(session: string, stream: string, event: NewEvent, room: EventRoom): Promise<number | undefined> {
    return this.#log.add(this.#keys(session, stream), event, room)
  }

  async read(session: string, stream: string, after: number, limit: number): Promise<EventPage | undefined> {
    const page = await this.#log.read(this.#keys(session, stream), after, limit)
    if (page === undefined) return undefined
    const { first, next, writer, events } = page
    const isOver = page.isOver && (events.at(-1)?.seq ?? after) >= next - 1
    return { events, isOver, first, writer }
  }

  async head(session: string, stream: string): Promise<EventHead | undefined> {
    const { texts, head } = this.#keys(session, stream)
    const reply = await this.#link.run('pierheadLogHead', [texts, head], [])
    if (!Array.isArray(reply)) return undefined
    const [next, first, over, writer] = reply as readonly unknown[]
    return {
      first: Number(first),
      next: Number(next),
      isOver: over !== '',
      writer: originalText(String(writer)),
    }
  }

  async position(session: string, stream: string): Promise<number | undefined> {
    const position = await this.#link.call(['HGET', this.#keys(session, stream).head, 'position'])
    return position === null ? undefined : Number(position)
  }

  async trim(session: string, stream: string, before: number): Promise<void> {
    const { texts, head } = this.#keys(session, stream)
    await this.#link.run('pierheadLogTrim', [texts, head], [before])
  }

  async forget(session: string, stream?: string): Promise<void> {
    const { names } = this.#keys(session, '')
    const beginnings = [this.#key(session, ':e:'), this.#key(session, ':h:')]
    const one = stream === undefined ? [] : [storedText(stream)]
    await this.#link.run('pierheadLogForget', [names], [...beginnings, ...one])
  }

  watch(session: string, stream: string, onNews: () => void): () => void {
    return this.#news.watch(this.#keys(session, stream).texts, onNews)
  }

  #keys(session: string, stream: string): LogKeys {
    const name = storedText(stream)
    return {
      texts: this.#key(session, `:e:${name}`),
      head: this.#key(session, `:h:${name}`),
      names: this.#key(session, ':streams'),
    }
  }

  #key(session: string, rest: string): string {
    return this.#link.key(`s:${storedText(session)}`, rest)
  }
}
