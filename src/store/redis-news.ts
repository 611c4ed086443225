import { lazy } from '../base/lazy.ts'
import type { Client } from './redis-client.ts'
import type { RedisConnection } from './redis-connection.ts'
import type { RedisLink } from './redis-link.ts'
import { Watchers } from './watchers.ts'

/** How often a connection that only listens shows that it is alive. */
const PING_MS = 10_000

/** Channels of Redis that are watched, over one connection. */
export class RedisNews {
  readonly #link: RedisLink
  readonly #watchers = new Watchers()
  readonly #open = lazy(() => this.#connect())
  #connection: RedisConnection | undefined
  #listening: Client | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(link: RedisLink) {
    this.#link = link
  }

  /**
   * Calls `onNews` with each message, and without one once it is certain that none is missed, and whenever some may have been
   * missed.
   */
  watch(channel: string, onNews: (message?: string) => void): () => void {
    this.#link.lifetime.check()
    const isNew = !this.#watchers.has(channel)
    const remove = this.#watchers.add(channel, onNews)
    if (isNew) void this.#subscribe(channel)
    else queueMicrotask(() => onNews())
    return () => {
      remove()
      // Another one may have come meanwhile.
      if (!this.#watchers.has(channel)) this.#connection?.current?.unsubscribe(channel).catch(() => {})
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #subscribe(channel: string): Promise<void> {
    try {
      const { current } = await this.#open()
      // Without a connection, all channels follow when there is one.
      if (current === undefined) return
      await current.subscribe(channel)
      this.#watchers.notify(channel)
    } catch (error) {
      // If the connection is lost, or cannot be made, readers of the stream get the error.
      this.#link.warnOf(error)
    }
  }

  async #connect(): Promise<RedisConnection> {
    const connection = await this.#link.connection((client) => void this.#resume(client))
    this.#connection = connection
    this.#timer = setInterval(() => void connection.current?.call('ping').catch(() => {}), PING_MS)
    this.#timer.unref()
    return connection
  }

  /** Subscribes to all channels again, which may have had messages meanwhile. */
  async #resume(client: Client): Promise<void> {
    this.#listen(client)
    const channels = this.#watchers.keys
    if (channels.length === 0) return
    try {
      await client.subscribe(...channels)
      this.#watchers.notifyAll()
    } catch (error) {
      this.#link.warnOf(error)
    }
  }

  #listen(client: Client): void {
    if (this.#listening === client) return
    this.#listening = client
    client.on('message', (channel, message) => this.#watchers.notify(String(channel), String(message)))
  }
}
