import type { RateStore, RateUse } from '../rpc/rate-store.ts'
import type { SqliteFile } from './sqlite-file.ts'
import { storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Counts requests in a file of SQLite. */
export class SqliteRateStore implements RateStore {
  readonly #file: SqliteFile

  constructor(file: SqliteFile) {
    this.#file = file
  }

  use(key: string, limit: number, windowMs: number, cost: number = 1): Promise<RateUse> {
    return this.#file.write(() => {
      const now = Date.now()
      this.#file.run(
        'DELETE FROM pierhead_rates WHERE key IN (SELECT key FROM pierhead_rates WHERE ends_at <= ? ORDER BY ends_at LIMIT 10)',
        now,
      )
      const sql = 'SELECT used, ends_at FROM pierhead_rates WHERE key = ? AND ends_at > ?'
      const [before = 0, ends = now + wholeMs(windowMs)] =
        this.#file.get(sql, storedText(key), now)?.map(Number) ?? []
      const isWithin = before + cost <= limit
      const used = isWithin ? before + cost : before
      this.#file.run(
        'INSERT OR REPLACE INTO pierhead_rates (key, used, ends_at) VALUES (?, ?, ?)',
        storedText(key),
        used,
        ends,
      )
      return { isWithin, remaining: Math.max(0, limit - used), resetMs: ends - now }
    })
  }
}
