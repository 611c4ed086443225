import type { Soon } from './soon.ts'

/** The state of a limited rate after a request. */
export interface RateUse {
  /** Whether the request is within the limit. */
  readonly isWithin: boolean
  /** How many more are possible now. */
  readonly remaining: number
  /** When the window ends, in milliseconds from now. */
  readonly resetMs: number
}

/** Counts requests for all nodes. */
export interface RateStore {
  /** Whether everything is in the memory of this process, where no other node sees it. */
  readonly isInMemory?: boolean | undefined
  /**
   * Counts a request for a key: at most `limit` within `windowMs`, which begins with the first one. A request counts `cost`, or 1; one
   * that is not within the limit does not count.
   */
  use(key: string, limit: number, windowMs: number, cost?: number): Soon<RateUse>
}
