import type { CacheStore } from '../rpc/cache-store.ts'
import type { PostgresLink } from './postgres-link.ts'
import { digest, NOW } from './postgres-schema.ts'
import { originalText, storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Writes a text, and removes some others whose time is over. */
const SET = `
  WITH given AS (SELECT ${digest('?::text')} AS key, ?::text AS text, ${NOW} AS now, ?::float8 AS ttl), gone AS (
    DELETE FROM pierhead_cache WHERE key IN (
      SELECT old.key FROM pierhead_cache AS old, given WHERE old.ends_at <= now AND old.key <> given.key
      ORDER BY old.ends_at LIMIT 10 FOR UPDATE OF old SKIP LOCKED
    )
  )
  INSERT INTO pierhead_cache AS old SELECT key, text, now + ttl FROM given
  ON CONFLICT (key) DO UPDATE SET text = excluded.text, ends_at = excluded.ends_at`

const ADD = `${SET} WHERE old.ends_at <= (SELECT now FROM given) RETURNING 1`

/** Keeps texts in PostgreSQL. */
export class PostgresCacheStore implements CacheStore {
  readonly #link: PostgresLink

  constructor(link: PostgresLink) {
    this.#link = link
  }

  async get(key: string): Promise<string | undefined> {
    const sql = `SELECT text FROM pierhead_cache WHERE key = ${digest('?::text')} AND ends_at > ${NOW}`
    const [row] = await this.#link.query(sql, [storedText(key)])
    return row === undefined ? undefined : originalText(String(row[0]))
  }

  async set(key: string, text: string, ttlMs: number): Promise<void> {
    await this.#link.query(SET, [storedText(key), storedText(text), wholeMs(ttlMs)])
  }

  async add(key: string, text: string, ttlMs: number): Promise<boolean> {
    const values = [storedText(key), storedText(text), wholeMs(ttlMs)]
    return (await this.#link.query(ADD, values, { isOnce: true })).length > 0
  }

  async delete(key: string): Promise<void> {
    const sql = `DELETE FROM pierhead_cache WHERE key = ${digest('?::text')}`
    await this.#link.query(sql, [storedText(key)])
  }
}
