import type { JsonObject } from '../protocol/jsonrpc.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { weigh } from '../base/weight.ts'
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
    const weight = key.length + weigh(result)
    this.#delete(key)
    if (weight > MAX_WEIGHT) return
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < MAX_ENTRIES && this.#weight + weight <= MAX_WEIGHT) break
      this.#delete(oldest)
    }
    this.#weight += weight
    this.#entries.set(key, { result, expiresAt: this.#now() + Math.min(ttlMs, MAX_TTL_MS), weight })
  }

  /** Evicts the results that a notification affects. */
  invalidate(notification: string, params: JsonObject): void {
    if (notification === 'notifications/resources/updated') {
      const uri = untrustedText(params['uri'])
      for (const key of this.#entries.keys())
        if (key.startsWith(READ) && isWithin(uri, key.slice(READ.length))) this.#delete(key)
    }
    for (const prefix of AFFECTED.get(notification) ?? []) {
      for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#delete(key)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}

/** The keys of affected results begin with one of these. */
const AFFECTED: ReadonlyMap<string, readonly string[]> = new Map([
  ['notifications/tools/list_changed', ['tools/list ']],
  ['notifications/prompts/list_changed', ['prompts/list ']],
  ['notifications/resources/list_changed', ['resources/list ', 'resources/templates/list ', READ]],
])
