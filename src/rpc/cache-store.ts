import type { Soon } from './soon.ts'

/** Keeps texts for a time, for all nodes. What it keeps can be made again, or is needed only for that time. */
export interface CacheStore {
  get(key: string): Soon<string | undefined>
  set(key: string, text: string, ttlMs: number): Soon<void>
  /** Adds a text unless the key has one. Answers whether it was added: of all nodes that try, one gets `true`. */
  add(key: string, text: string, ttlMs: number): Soon<boolean>
  delete(key: string): Soon<void>
}
