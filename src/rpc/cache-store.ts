import type { Soon } from './soon.ts'

/** Keeps texts for a time, for all nodes. What it keeps can be made again, or is needed only for that time. */
export interface CacheStore {
  /** Whether everything is in the memory of this process, where no other node sees it. */
  readonly isInMemory?: boolean | undefined
  /** The text of a key; undefined if it has none, or if its time is over. */
  get(key: string): Soon<string | undefined>
  /** Gives a key a text, whatever it had before. */
  set(key: string, text: string, ttlMs: number): Soon<void>
  /** Adds a text unless the key has one. Answers whether it was added: of all nodes that try, one gets `true`. */
  add(key: string, text: string, ttlMs: number): Soon<boolean>
  /** Removes the text of a key. */
  delete(key: string): Soon<void>
}
