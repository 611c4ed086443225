import type { JsonObject } from '../protocol/jsonrpc.ts'
import { untrustedText } from '../base/untrusted-text.ts'
import { weigh } from './weight.ts'
import { isWithin } from './within.ts'

interface Kept {
  readonly result: JsonObject
  readonly until: number
  readonly weight: number
}

const MAX_KEPT = 500
const MAX_WEIGHT = 33_554_432
const MAX_TTL_MS = 24 * 3_600_000
const READ = 'resources/read '

/**
 * Results that the server allowed to keep, until their time is up or a notification says that they changed. It belongs
 * to one client, so that what is private to its caller stays with it.
 */
export class Cache {
  readonly #kept = new Map<string, Kept>()
  #weight = 0
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get(method: string, detail: string): JsonObject | undefined {
    const key = `${method} ${detail}`
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    if (kept.until > this.#now()) return kept.result
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
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MAX_KEPT && this.#weight + weight <= MAX_WEIGHT) break
      this.#delete(oldest)
    }
    this.#weight += weight
    this.#kept.set(key, { result, until: this.#now() + Math.min(ttlMs, MAX_TTL_MS), weight })
  }

  /** Forgets what a notification is about. */
  changed(notification: string, params: JsonObject): void {
    if (notification === 'notifications/resources/updated') {
      const uri = untrustedText(params['uri'])
      for (const key of this.#kept.keys())
        if (key.startsWith(READ) && isWithin(uri, key.slice(READ.length))) this.#delete(key)
    }
    for (const prefix of FORGOTTEN.get(notification) ?? []) {
      for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.#delete(key)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#weight = 0
  }

  #delete(key: string): void {
    this.#weight -= this.#kept.get(key)?.weight ?? 0
    this.#kept.delete(key)
  }
}

const FORGOTTEN: ReadonlyMap<string, readonly string[]> = new Map([
  ['notifications/tools/list_changed', ['tools/list ']],
  ['notifications/prompts/list_changed', ['prompts/list ']],
  ['notifications/resources/list_changed', ['resources/list ', 'resources/templates/list ', READ]],
])
