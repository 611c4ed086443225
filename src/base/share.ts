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

/** What a caller takes of a limit, this time included. */
interface Taken {
  readonly own: number
  /** What it takes together with the others of its network, if it is anonymous. */
  readonly near: number
  /** What all callers take. */
  readonly total: number
}

/** Whether a caller, and the others of its address, stay within their shares of a limit. */
export function hasShare({ own, near, total }: Taken, limit: number): boolean {
  if (!isWithinShare(own, total, limit)) return false
  if (near === own || isWithinAddressShare(near, total, limit)) return true
  // Where many share an address, there is room for those who need little.
  return own <= shareOf(shareOf(limit - total + own))
}

/** Whether one caller has so much less than another that it may take the other's place. */
export function hasFarLess(own: number, other: number): boolean {
  return own < shareOf(other)
}

/** Whether an owner has so many fewer items than another that a new one may take the place of one of these. */
export function hasFarFewer(own: number, other: number): boolean {
  // Otherwise somebody with one item would lose it to somebody who then has one.
  return other > 1 && hasFarLess(own, other)
}
