import type { CacheStore } from '../rpc/cache-store.ts'
import type { Soon } from '../rpc/soon.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Keeps texts in a file of SQLite. */
export class SqliteCacheStore implements CacheStore {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    this.#file = file
  }

  get(key: string): Soon<string | undefined> {
    return this.#file.read(() => this.#get(storedText(key)))
  }

  set(key: string, text: string, ttlMs: number): Promise<void> {
    return this.#file.write(() => this.#set(storedText(key), text, ttlMs))
  }

  add(key: string, text: string, ttlMs: number): Promise<boolean> {
    return this.#file.write(() => {
      if (this.#get(storedText(key)) !== undefined) return false
      this.#set(storedText(key), text, ttlMs)
      return true
    })
  }

  delete(key: string): Promise<void> {
    return this.#file.write(() => this.#file.run('DELETE FROM pierhead_cache WHERE key = ?', storedText(key)))
  }

  #get(key: string): string | undefined {
    const sql = 'SELECT text FROM pierhead_cache WHERE key = ? AND ends_at > ?'
    const row = this.#file.get(sql, key, Date.now())
    return row === undefined ? undefined : originalText(String(row[0]))
  }

  #set(key: string, text: string, ttlMs: number): void {
    const now = Date.now()
    this.#file.run(
      'DELETE FROM pierhead_cache WHERE key IN (SELECT key FROM pierhead_cache WHERE ends_at <= ? ORDER BY ends_at LIMIT 10)',
      now,
    )
    const ends = now + wholeMs(ttlMs)
    this.#file.run(
      'INSERT OR REPLACE INTO pierhead_cache (key, text, ends_at) VALUES (?, ?, ?)',
      key,
      storedText(text),
      ends,
    )
  }
}
