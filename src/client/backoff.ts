import { delayOf, pause, type BackoffTimes } from '../base/backoff.ts'

/** Spaces out attempts that keep failing. */
export interface Backoff {
  /** Waits before the next attempt: not at all after a success or the first failure, then longer each time. An abort ends it. */
  wait(signal: AbortSignal): Promise<void>
  /** A server was opened; whether it works shows. */
  worked(): void
  /** The server that was opened answered something. */
  answered(): void
  failed(): void
  /** The server wants to be left alone for so long. */
  hold(ms: number): void
}

/** A server that answered nothing and dies sooner than this after it was opened has not worked. */
const STEADY_MS = 5_000

export function createBackoff(times: BackoffTimes, random: () => number = Math.random): Backoff {
  let failures = 0
  let openedAt = 0
  let notBefore = 0
  return {
    async wait(signal) {
      if (openedAt > 0 && performance.now() - openedAt < STEADY_MS) failures++
      else if (openedAt > 0) failures = 0
      openedAt = 0
      const asked = notBefore - performance.now()
      const due = failures < 2 ? 0 : delayOf(failures - 2, times, random)
      if (Math.max(asked, due) > 0) await pause(Math.max(asked, due), signal)
    },
    worked() {
      openedAt = performance.now()
    },
    answered() {
      failures = 0
      openedAt = 0
    },
    failed() {
      failures++
      openedAt = 0
    },
    hold(ms) {
      notBefore = Math.max(notBefore, performance.now() + ms)
    },
  }
}
