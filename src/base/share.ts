/** One caller may take this part of what all others leave free, so that a few callers cannot take everything. */
const SHARE = 1 / 4

/** The callers of one address may together take this part of what all others leave free: many may share it, but never everything. */
const ADDRESS_SHARE = 3 / 4

/** How much of `free` one caller may take. */
export function shareOf(free: number): number {
  return free * SHARE
}

/** Whether a caller stays within its share of a limit. `total` is what all callers take, this one included. */
export function isWithinShare(own: number, total: number, limit: number): boolean {
  return own <= shareOf(limit - total + own)
}

/** Whether the callers of an address stay within their share of a limit. `total` is what all callers take, these included. */
export function isWithinAddressShare(own: number, total: number, limit: number): boolean {
  return own <= (limit - total + own) * ADDRESS_SHARE
}

/** Whether one caller has so much less than another that it may take the other's place. */
export function hasFarLess(own: number, other: number): boolean {
  return own < shareOf(other)
}
