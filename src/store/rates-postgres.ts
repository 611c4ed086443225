import type { RateStore, RateUse } from '../rpc/rate-store.ts'
import type { PostgresLink } from './postgres-link.ts'
import { digest, NOW } from './postgres-schema.ts'
import { storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Counts a request, and removes some windows that are over. */
const USE = `
  WITH given AS (
    SELECT ${digest('?::text')} AS key, ?::float8 AS cost, ?::float8 AS most, ?::float8 AS span, ${NOW} AS now
  ), gone AS (
    DELETE FROM pierhead_rates WHERE key IN (
      SELECT old.key FROM pierhead_rates AS old, given WHERE old.ends_at <= now AND old.key <> given.key
      ORDER BY old.ends_at LIMIT 10 FOR UPDATE OF old SKIP LOCKED
    )
  )
  INSERT INTO pierhead_rates AS rates (key, used, ends_at, is_within)
  SELECT key, CASE WHEN cost <= most THEN cost ELSE 0 END, now + span, (cost <= most)::int FROM given
  ON CONFLICT (key) DO UPDATE SET (used, ends_at, is_within) = (
    SELECT CASE WHEN was.used + cost <= most THEN was.used + cost ELSE was.used END, was.ends_at, (was.used + cost <= most)::int
    FROM given, LATERAL (
      SELECT
        CASE WHEN rates.ends_at > now THEN rates.used ELSE 0 END AS used,
        CASE WHEN rates.ends_at > now THEN rates.ends_at ELSE now + span END AS ends_at
    ) AS was
  )
  RETURNING is_within, used, ends_at - (SELECT now FROM given)`

/** Counts requests in PostgreSQL. */
export class PostgresRateStore implements RateStore {
  readonly #link: PostgresLink

  constructor(link: PostgresLink) {
    this.#link = link
  }

  async use(key: string, limit: number, windowMs: number, cost: number = 1): Promise<RateUse> {
    const values = [storedText(key), cost, limit, wholeMs(windowMs)]
    const [row = []] = await this.#link.query(USE, values, { isOnce: true })
    const [isWithin, used = 0, resetMs = 0] = row.map(Number)
    return { isWithin: isWithin === 1, remaining: Math.max(0, limit - used), resetMs }
  }
}
