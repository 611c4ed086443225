import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'

/** Milliseconds, or text such as `'20s'`, `'2m'`, `'1h'`, `'250ms'`. */
export type Duration = number | string

/** The longest delay of a timer; timers fire at once for anything longer. */
export const LONGEST_MS = 2_147_483_647

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Whether a value is a duration. */
export function isDuration(value: unknown): value is Duration {
  return (typeof value === 'number' || typeof value === 'string') && msOf(value) >= 0
}

/** A duration in milliseconds. `where` names the option in the error. */
export function toMs(duration: Duration, where: string): number {
  const ms = msOf(duration)
  if (ms >= 0) return ms
  throw mcpError(BAD_OPTION, {
    where,
    reason: `"${duration}" is not a duration; use milliseconds, or text such as '20s', '2m' or '1h'`,
  })
}

/** Milliseconds; NaN for what is not a duration. */
function msOf(duration: Duration): number {
  if (typeof duration !== 'string') return duration
  const parts = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(duration.trim())
  return Number(parts?.[1]) * (UNITS[parts?.[2] ?? ''] ?? Number.NaN)
}
