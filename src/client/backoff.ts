/** Spaces out attempts that keep failing. */
export interface Backoff {
  /** Waits before the next attempt: not at all after a success or the first failure, then longer each time. */
  wait(): Promise<void>
  worked(): void
  failed(): void
}

const FIRST_MS = 500
const MAX_MS = 30_000
/** A server that dies sooner than this after it was opened has not worked. */
const STEADY_MS = 5_000

export function createBackoff(random: () => number = Math.random): Backoff {
  let failures = 0
  let openedAt = 0
  return {
    async wait() {
      if (openedAt > 0 && performance.now() - openedAt < STEADY_MS) failures++
      else if (openedAt > 0) failures = 0
      openedAt = 0
      if (failures < 2) return
      const ms = Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 2)) * (0.75 + random() / 2)
      await new Promise<void>((resolve) => setTimeout(resolve, ms))
    },
    worked() {
      openedAt = performance.now()
    },
    failed() {
      failures++
      openedAt = 0
    },
  }
}
