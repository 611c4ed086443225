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

interface Kept {
  readonly key: string
  readonly text: string
}

/** Keeps texts in memory. If there is no room, those go first whose time is over soonest. */
export class MemoryCacheStore implements CacheStore {
  readonly #lifetime: Lifetime
  readonly #room: CacheRoom
  readonly #kept = new Map<string, HeapEntry<Kept>>()
  readonly #expiry = new Heap<Kept>()
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
    this.#kept.set(key, this.#expiry.add(now + ttlMs, { key, text }))
    this.#chars += key.length + text.length
    while (this.#kept.size > this.#room.texts || this.#chars > this.#room.chars)
      this.delete(this.#expiry.first?.item.key ?? key)
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
    this.#chars -= key.length + entry.item.text.length
  }

  /** The time now, at which no expired text is left. */
  #begin(): number {
    this.#lifetime.check()
    return removeEnded(this.#expiry, ({ key }) => this.delete(key))
  }
}
