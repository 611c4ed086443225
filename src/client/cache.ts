import type { JsonObject } from '../protocol/jsonrpc.ts'
import { weigh } from '../base/weight.ts'
import type { ClientEvents } from './events.ts'
import { isWithin } from './within.ts'

interface Entry {
  readonly result: JsonObject
  readonly expiresAt: number
  readonly weight: number
}

const MAX_ENTRIES = 500
const MAX_WEIGHT = 33_554_432
const MAX_TTL_MS = 24 * 3_600_000
const READ = 'resources/read '

/**
 * Caches results for as long as the server allows, or until it reports a change. Each client has its own cache, so
 * private results stay private.
 */
export class Cache {
  readonly #entries = new Map<string, Entry>()
  #weight = 0
  /** The number of changes so far. */
  changes = 0
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get(method: string, detail: string): JsonObject | undefined {
    const key = `${method} ${detail}`
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.expiresAt > this.#now()) return entry.result
    this.#delete(key)
    return undefined
  }

  put(method: string, detail: string, result: JsonObject): void {
    const { ttlMs } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const key = `${method} ${detail}`
    const weight = weigh([key, result])
    this.#delete(key)
    if (weight > MAX_WEIGHT) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < MAX_ENTRIES && this.#weight + weight <= MAX_WEIGHT) break
      this.#delete(oldest)
    }
    this.#weight += weight
    this.#entries.set(key, { result, expiresAt: this.#now() + Math.min(ttlMs, MAX_TTL_MS), weight })
  }

  /** Evicts the results that a change affects. */
  invalidate(change: ClientEvents['change']): void {
    this.changes++
    const isAffected = (key: string): boolean =>
      change.kind === 'resource'
        ? key.startsWith(READ) && isWithin(change.uri, key.slice(READ.length))
        : key.startsWith(`${change.kind}/`)
    for (const key of this.#entries.keys()) if (isAffected(key)) this.#delete(key)
  }

  clear(): void {
    this.changes++
    this.#entries.clear()
    this.#weight = 0
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
