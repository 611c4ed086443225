/** The latest time of a `Date`, in milliseconds since 1970. */
const LATEST = 8.64e15

/** The time, in milliseconds since 1970, that is some seconds after another. Issuers choose the number, and JSON cannot hold infinity. */
export function secondsAfter(start: number, seconds: number): number {
  return Math.max(0, Math.min(start + seconds * 1000, LATEST))
}
