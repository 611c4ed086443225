import { pause } from '../base/backoff.ts'
import type { RedisLink } from './redis-link.ts'
import type { RedisNews } from './redis-news.ts'
import { readableText } from './stored-text.ts'

/** How many tasks are read at once when any may have changed. */
const PAGE = 1000

/** Those who watch tasks. Changes of other processes are messages of one channel; those of this process are known. */
export class RedisTaskWatchers {
  readonly #link: RedisLink
  readonly #news: RedisNews
  readonly #channel: string
  readonly #writer: string
  readonly #watchers = new Set<(id: string) => void>()
  #stop: (() => void) | undefined
  #isAnnouncing = false

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
  }

  #heard(message: string): void {
    const space = message.indexOf(' ')
    if (message.slice(0, space) !== this.#writer) this.notify([readableText(message.slice(space + 1))])
  }

  /** Any task may have changed. */
  async #announceAll(): Promise<void> {
    if (this.#watchers.size === 0 || this.#isAnnouncing) return
    this.#isAnnouncing = true
    const list = this.#channel.replace(/news$/, 'all')
    try {
      for (let from = '-inf'; this.#watchers.size > 0;) {
        const command = ['ZRANGEBYSCORE', list, from, '+inf', 'WITHSCORES', 'LIMIT', 0, PAGE]
        const reply = (await this.#link.call(command)) as readonly string[]
        this.notify(reply.filter((_, index) => index % 2 === 0).map(readableText))
        if (reply.length < 2 * PAGE) break
        from = `(${reply.at(-1)}`
      }
    } catch {
      // Listening again announces all when the server is back.
    }
    this.#isAnnouncing = false
  }
}
