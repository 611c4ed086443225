import type { RateStore, RateUse } from '../rpc/rate-store.ts'
import type { RedisLink } from './redis-link.ts'
import { storedText } from './stored-text.ts'
import { wholeMs } from './times.ts'

/** Counts requests in Redis. */
export class RedisRateStore implements RateStore {
  readonly #link: RedisLink

  constructor(link: RedisLink) {
    this.#link = link
  }

  async use(key: string, limit: number, windowMs: number, cost: number = 1): Promise<RateUse> {
    const keys = [this.#link.key(`r:${storedText(key)}`, '')]
    const reply = await this.#link.run('pierheadRateUse', keys, [limit, wholeMs(windowMs), cost])
    const [isWithin, used, resetMs] = (reply as readonly unknown[]).map(Number)
    return { isWithin: isWithin === 1, remaining: Math.max(0, limit - (used ?? 0)), resetMs: resetMs ?? 0 }
  }
}
