import type { JsonObject } from '../protocol/jsonrpc.ts'
import { textBytes } from '../base/weight.ts'
import type { ClientEvents } from './events.ts'
import { firstFrom, folderOf } from './within.ts'

interface Entry {
  /** The result as JSON. Each caller gets a copy, so that none can change what another gets. */
  readonly text: string
  readonly expiresAt: number
  readonly weight: number
}

const MAX_ENTRIES = 500
const MAX_WEIGHT = 33_554_432
const MAX_TTL_MS = 24 * 3_600_000
const READ = 'resources/read '
const MAX_CHANGES = 100
const MAX_CHANGE = 8192

/**
 * Caches results for as long as the server allows, or until it reports a change. Each client has its own cache, so
 * private results stay private.
 */
export class Cache {
  readonly #entries = new Map<string, Entry>()
  /** What changed since the cache was last used: the beginnings of keys, or the keys of resources with a slash at the end. */
  readonly #changed = new Set<string>()
  #weight = 0
  /** The number of changes so far. */
  changes = 0
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get(method: string, detail: string): JsonObject | undefined {
    this.#evict()
    const key = `${method} ${detail}`
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.expiresAt > this.#now()) return JSON.parse(entry.text) as JsonObject
    this.#delete(key)
    return undefined
  }

  put(method: string, detail: string, result: JsonObject): void {
    this.#evict()
    const { ttlMs } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const key = `${method} ${detail}`
    this.#delete(key)
    let text: string
    try {
      text = JSON.stringify(result)
    } catch {
      return // It is nested too deeply.
    }
    const weight = textBytes(key) + textBytes(text)
    if (weight > MAX_WEIGHT) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < MAX_ENTRIES && this.#weight + weight <= MAX_WEIGHT) break
      this.#delete(oldest)
    }
    this.#weight += weight
    this.#entries.set(key, { text, expiresAt: this.#now() + Math.min(ttlMs, MAX_TTL_MS), weight })
  }

  /** Evicts the results that a change affects, but not before the next use: a server may report many changes at once. */
  invalidate(change: ClientEvents['change']): void {
    this.changes++
    if (this.#entries.size === 0) return
    const changed = change.kind === 'resource' ? READ + folderOf(change.uri) : `${change.kind}/`
    this.#changed.add(changed)
    if (this.#changed.size > MAX_CHANGES || changed.length > MAX_CHANGE) this.clear()
  }

  clear(): void {
    this.changes++
    this.#changed.clear()
    this.#entries.clear()
    this.#weight = 0
  }

  #evict(): void {
    if (this.#changed.size === 0) return
    // A server chooses how much changes and how much is cached, so each key is not compared with every change.
    const sorted = [...this.#changed].sort()
    for (const key of this.#entries.keys()) {
      const folder = folderOf(key)
      const isList = this.#changed.has(key.slice(0, key.indexOf('/') + 1))
      if (isList || sorted[firstFrom(sorted, folder)]?.startsWith(folder)) this.#delete(key)
    }
    this.#changed.clear()
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
