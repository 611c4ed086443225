/** The longest time that is kept, about 300 years. */
const LONGEST_MS = 1e13

/** A time as stores can keep it: at least 1 ms, and not without end. */
export function wholeMs(ms: number): number {
  return Math.min(Math.max(1, Math.ceil(ms)), LONGEST_MS)
}

/** How much later a store may note that something was used, so that it does not write for each use. */
export function lateMs(idleMs: number): number {
  return Math.floor(Math.min(1000, idleMs / 16))
}

/** How long something lives that is noted late: never less than its idle time. */
export function lifeMs(idleMs: number): number {
  return wholeMs(idleMs + lateMs(idleMs))
}
