import { Heap, type HeapEntry } from '../base/heap.ts'
import type { RateStore, RateUse } from '../rpc/rate-store.ts'
import type { Lifetime } from './lifetime.ts'

/** How many keys are counted at the same time. */
const KEYS = 100_000

interface Count {
  readonly key: string
  used: number
}

/** Counts requests in memory. If there are too many keys, the count goes first whose window ends soonest. */
export class MemoryRateStore implements RateStore {
  readonly isInMemory = true
  readonly #lifetime: Lifetime
  readonly #keys: number
  readonly #counts = new Map<string, HeapEntry<Count>>()
  readonly #ends = new Heap<Count>()

  constructor(lifetime: Lifetime, keys: number = KEYS) {
    this.#lifetime = lifetime
    this.#keys = keys
  }

  use(key: string, limit: number, windowMs: number, cost: number = 1): RateUse {
    this.#lifetime.check()
    const now = performance.now()
    for (let first = this.#ends.first; first !== undefined; first = this.#ends.first) {
      if (first.at > now && (this.#counts.size < this.#keys || this.#counts.has(key))) break
      this.#ends.remove(first)
      this.#counts.delete(first.item.key)
    }
    const entry = this.#counts.get(key) ?? this.#ends.add(now + windowMs, { key, used: 0 })
    this.#counts.set(key, entry)
    const isWithin = entry.item.used + cost <= limit
    if (isWithin) entry.item.used += cost
    return { isWithin, remaining: Math.max(0, limit - entry.item.used), resetMs: Math.ceil(entry.at - now) }
  }
}
