/** One caller may take this part of what all others leave free, so that a few callers cannot take everything. */
const SHARE = 1 / 4

/** How much of `free` one caller may take. */
export function shareOf(free: number): number {
  return free * SHARE
}

/** Whether a caller stays within its share of a limit. `total` is what all callers take, this one included. */
export function isWithinShare(own: number, total: number, limit: number): boolean {
  return own <= shareOf(limit - total + own)
}

/** Whether someone has so much less than another that it may take a place of the other. */
export function hasFarLess(own: number, other: number): boolean {
  return own < shareOf(other)
}
