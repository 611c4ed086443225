import { toMs, type Duration } from '../base/duration.ts'
import { COUNT, DURATION, FLAG, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { BackoffTimes } from '../base/backoff.ts'

/** What a client does by itself when a server refuses for now. */
export interface RecoveryOptions {
  /** How often a request is sent at most; 5 unless given. */
  readonly tries?: number
  /** The first wait; each further one is twice as long. 100 ms unless given. */
  readonly first?: Duration
  /** The longest wait; a server that asks for more gets no further try. 32 s unless given. */
  readonly longest?: Duration
  /** Whether requests that are safe to repeat are also sent again when their time ran out in silence. */
  readonly timeouts?: boolean
}

/** The same, as the client uses it. */
export interface RecoveryPace extends BackoffTimes {
  readonly tries: number
  readonly timeouts: boolean
}

const OPTIONS: KindsOf<RecoveryOptions> = { tries: COUNT, first: DURATION, longest: DURATION, timeouts: FLAG }

/** Reads the option; undefined means that every refusal is given back at once. */
export function readRecovery(option: RecoveryOptions | false = {}): RecoveryPace | undefined {
  if (option === false) return undefined
  checkOptions('connect recovery', option, OPTIONS)
  const { tries = 5, first = 100, longest = 32_000, timeouts = false } = option
  const where = 'connect recovery'
  return { tries, firstMs: toMs(first, where), maxMs: toMs(longest, where), timeouts }
}
