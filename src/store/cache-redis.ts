import type { CacheStore } from '../rpc/cache-store.ts'
import type { RedisLink } from './redis-link.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Keeps texts in Redis, which removes them when their time is over. */
export class RedisCacheStore implements CacheStore {
  readonly #link: RedisLink

  constructor(link: RedisLink) {
    this.#link = link
  }

  async get(key: string): Promise<string | undefined> {
    const text = await this.#link.call(['GET', this.#key(key)])
    return typeof text === 'string' ? originalText(text) : undefined
  }

  async set(key: string, text: string, ttlMs: number): Promise<void> {
    await this.#link.call(['SET', this.#key(key), storedText(text), 'PX', wholeMs(ttlMs)])
  }

  async add(key: string, text: string, ttlMs: number): Promise<boolean> {
    const command = ['SET', this.#key(key), storedText(text), 'PX', wholeMs(ttlMs), 'NX']
    return (await this.#link.call(command, { isOnce: true })) !== null
  }

  async delete(key: string): Promise<void> {
    await this.#link.call(['DEL', this.#key(key)])
  }

  #key(key: string): string {
    return this.#link.key(`c:${storedText(key)}`, '')
  }
}
