import type { JsonObject } from '../protocol/jsonrpc.ts'

interface Kept {
  readonly result: JsonObject
  readonly until: number
}

const MAX_KEPT = 500
const MAX_TTL_MS = 24 * 3_600_000

/**
 * Results that the server allowed to keep, until their time is up or a notification says that they changed. It belongs
 * to one client, so that what is private to its caller stays with it.
 */
export class Cache {
  readonly #kept = new Map<string, Kept>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get(method: string, detail: string): JsonObject | undefined {
    const key = `${method} ${detail}`
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    if (kept.until > this.#now()) return kept.result
    this.#kept.delete(key)
    return undefined
  }

  put(method: string, detail: string, result: JsonObject): void {
    const { ttlMs } = result
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return
    const oldest = this.#kept.keys().next().value
    if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(`${method} ${detail}`, { result, until: this.#now() + Math.min(ttlMs, MAX_TTL_MS) })
  }

  /** Forgets what a notification is about. */
  changed(notification: string, params: JsonObject): void {
    if (notification === 'notifications/resources/updated') {
      const uri = String(params['uri'])
      for (const key of this.#kept.keys()) {
        const read = key.startsWith('resources/read ') ? key.slice('resources/read '.length) : undefined
        if (read === uri || (read !== undefined && uri.startsWith(`${read}/`))) this.#kept.delete(key)
      }
    }
    for (const prefix of FORGOTTEN.get(notification) ?? []) {
      for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.#kept.delete(key)
    }
  }

  clear(): void {
    this.#kept.clear()
  }
}

const FORGOTTEN: ReadonlyMap<string, readonly string[]> = new Map([
  ['notifications/tools/list_changed', ['tools/list ']],
  ['notifications/prompts/list_changed', ['prompts/list ']],
  [
    'notifications/resources/list_changed',
    ['resources/list ', 'resources/templates/list ', 'resources/read '],
  ],
])
