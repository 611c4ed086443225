import { doubledMs, pause } from '../base/backoff.ts'
import type { RedisLink } from './redis-link.ts'
import type { RedisNews } from './redis-news.ts'
import { readableText } from './stored-text.ts'

/** How many tasks are read at once when any may have changed. */
const PAGE = 1000
/** The pauses before they are read again, if that failed. */
const RETRY_PAUSES = { firstMs: 100, maxMs: 5000 }

/** Those who watch tasks. Changes of other processes are messages of one channel; those of this process are known. */
export class RedisTaskWatchers {
  readonly #link: RedisLink
  readonly #news: RedisNews
  readonly #channel: string
  readonly #writer: string
  readonly #watchers = new Set<(id: string) => void>()
  #stop: (() => void) | undefined
  /** Ends the announcement that is under way. */
  readonly #closing = new AbortController()
  #isAnnouncing = false
  /** Whether tasks may have changed that were announced already. */
  #isStale = false

  constructor(link: RedisLink, news: RedisNews, channel: string, writer: string) {
    this.#link = link
    this.#news = news
    this.#channel = channel
    this.#writer = writer
  }

  add(onChange: (id: string) => void): () => void {
    this.#link.lifetime.check()
    // Its own function, so that the same one can watch twice.
    const watcher = (id: string): void => onChange(id)
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** Begins to listen. Steps also work while nobody does, so it waits for the first attempt only. */
  async start(): Promise<void> {
    if (this.#stop !== undefined) return
    const begun = new AbortController()
    this.#stop = this.#news.watch(this.#channel, (message) => {
      begun.abort()
      if (message === undefined) void this.#announceAll()
      else this.#heard(message)
    })
    await pause(this.#link.timeoutMs, begun.signal)
  }

  /** Calls the watchers of this process. */
  notify(ids: readonly string[]): void {
    for (const id of ids) for (const watcher of this.#watchers) watcher(id)
  }

  close(): void {
    this.#watchers.clear()
    this.#stop?.()
    this.#closing.abort()
  }

  #heard(message: string): void {
    const space = message.indexOf(' ')
    if (message.slice(0, space) !== this.#writer) this.notify([readableText(message.slice(space + 1))])
  }

  /** Any task may have changed. Tries until all are announced, because this connection may come back later than the one with the news. */
  async #announceAll(): Promise<void> {
    this.#isStale = true
    if (this.#isAnnouncing) return
    this.#isAnnouncing = true
    for (let failures = 0; this.#isStale && this.#watchers.size > 0;) {
      this.#isStale = false
      try {
        await this.#announceOnce()
        failures = 0
      } catch {
        this.#isStale = true
        await pause(doubledMs(failures++, RETRY_PAUSES), this.#closing.signal)
      }
    }
    this.#isAnnouncing = false
  }

  async #announceOnce(): Promise<void> {
    const list = this.#channel.replace(/news$/, 'all')
    for (let from = '-inf'; this.#watchers.size > 0;) {
      const command = ['ZRANGEBYSCORE', list, from, '+inf', 'WITHSCORES', 'LIMIT', 0, PAGE]
      const reply = (await this.#link.call(command)) as readonly string[]
      this.notify(reply.filter((_, index) => index % 2 === 0).map(readableText))
      if (reply.length < 2 * PAGE) return
      from = `(${reply.at(-1)}`
    }
  }
}
