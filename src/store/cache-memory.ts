import { Heap, type HeapEntry } from '../base/heap.ts'
import type { CacheStore } from '../rpc/cache-store.ts'
import { removeEnded } from './ended.ts'
import type { Lifetime } from './lifetime.ts'

/** How many texts are kept, and how many characters they and their keys may have together. */
export interface CacheRoom {
  readonly texts: number
  readonly chars: number
}

const ROOM: CacheRoom = { texts: 100_000, chars: 32 * 1024 * 1024 }

/** Texts longer than this go first. */
const LARGE = 16_384

interface Kept {
  readonly key: string
  readonly text: string
  readonly chars: number
  /** Its place among the long texts, by the time of its end; short ones have none. */
  readonly long: HeapEntry<string> | undefined
}

/**
 * Keeps texts in memory. If there is no room, long ones go first, so that they cannot displace many others, and then short ones; of both,
 * those whose time is over soonest. So a caller who leaves many long texts here does not make the next one of somebody else go at once.
 */
export class MemoryCacheStore implements CacheStore {
  readonly isInMemory = true
  readonly #lifetime: Lifetime
  readonly #room: CacheRoom
  readonly #kept = new Map<string, HeapEntry<Kept>>()
  readonly #expiry = new Heap<Kept>()
  readonly #long = new Heap<string>()
  #chars = 0

  constructor(lifetime: Lifetime, room: CacheRoom = ROOM) {
    this.#lifetime = lifetime
    this.#room = room
  }

  get(key: string): string | undefined {
    this.#begin()
    return this.#kept.get(key)?.item.text
  }

  set(key: string, text: string, ttlMs: number): void {
    const now = this.#begin()
    this.delete(key)
    const chars = key.length + text.length
    if (chars > this.#room.chars) return
    const long = chars > LARGE ? this.#long.add(now + ttlMs, key) : undefined
    this.#kept.set(key, this.#expiry.add(now + ttlMs, { key, text, chars, long }))
    this.#chars += chars
    while (this.#chars > this.#room.chars)
      this.delete(this.#long.first?.item ?? this.#expiry.first?.item.key ?? key)
    while (this.#kept.size > this.#room.texts) this.delete(this.#expiry.first?.item.key ?? key)
  }

  add(key: string, text: string, ttlMs: number): boolean {
    this.#begin()
    if (this.#kept.has(key)) return false
    this.set(key, text, ttlMs)
    return true
  }

  delete(key: string): void {
    this.#lifetime.check()
    const entry = this.#kept.get(key)
    if (entry === undefined) return
    this.#kept.delete(key)
    this.#expiry.remove(entry)
    if (entry.item.long !== undefined) this.#long.remove(entry.item.long)
    this.#chars -= entry.item.chars
  }

  /** The time now, at which no expired text is left. */
  #begin(): number {
    this.#lifetime.check()
    return removeEnded(this.#expiry, ({ key }) => this.delete(key))
  }
}
