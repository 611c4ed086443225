import { toMs, type Duration } from '../base/duration.ts'
import { COUNT, DURATION, FLAG, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { BackoffTimes } from '../base/backoff.ts'

/** How a client retries requests after temporary errors. */
export interface RecoveryOptions {
  /** The largest number of attempts for a request, the first included. Default: 5. */
  readonly tries?: number | undefined
  /** The first wait, which doubles each time. Default: 100 ms. Up to a quarter is added at random. */
  readonly first?: Duration | undefined
  /** The longest wait. Default: 32 s. If a server asks for a longer one, the request fails. */
  readonly longest?: Duration | undefined
  /** Whether requests that are safe to repeat are also retried after a timeout. Default: `false`. */
  readonly timeouts?: boolean | undefined
}

/** The options with defaults, and times in milliseconds. */
export interface RecoverySettings extends BackoffTimes {
  readonly tries: number
  readonly timeouts: boolean
}

const OPTIONS: KindsOf<RecoveryOptions> = { tries: COUNT, first: DURATION, longest: DURATION, timeouts: FLAG }

/** Reads the option; undefined turns retries off. */
export function readRecovery(option: RecoveryOptions | false = {}): RecoverySettings | undefined {
  if (option === false) return undefined
  checkOptions('connect recovery', option, OPTIONS)
  const { tries = 5, first = 100, longest = 32_000, timeouts = false } = option
  const where = 'connect recovery'
  return { tries, firstMs: toMs(first, where), maxMs: toMs(longest, where), timeouts }
}
