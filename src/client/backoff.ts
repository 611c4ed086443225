import { delayOf, pause, type BackoffTimes } from '../base/backoff.ts'

/** Spaces out repeated attempts to connect. */
export interface Backoff {
  /** Waits before the next attempt: not at all after a success or one failure, then longer each time. An abort ends the wait. */
  wait(signal: AbortSignal): Promise<void>
  /** The connection opened. It counts as a success once the server answers the application or stays up for a while. */
  opened(): void
  /** The server answered a request of the application, so the connection works. */
  answered(): void
  failed(): void
  /** Delays the next attempt, because the server asked for it. */
  holdOff(ms: number): void
}

/** A connection that fails sooner than this, without an answer, counts as a failed attempt. */
const STABLE_MS = 5_000

export function createBackoff(times: BackoffTimes, random: () => number = Math.random): Backoff {
  let failures = 0
  let openedAt = 0
  let notBefore = 0
  return {
    async wait(signal) {
      if (openedAt > 0 && performance.now() - openedAt < STABLE_MS) failures++
      else if (openedAt > 0) failures = 0
      openedAt = 0
      const held = notBefore - performance.now()
      const due = failures < 2 ? 0 : delayOf(failures - 2, times, random)
      if (Math.max(held, due) > 0) await pause(Math.max(held, due), signal)
    },
    opened() {
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
    holdOff(ms) {
      notBefore = Math.max(notBefore, performance.now() + ms)
    },
  }
}
