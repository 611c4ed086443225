import { LONGEST_MS } from '../base/duration.ts'

/** The time, so that tests can set it. */
export interface TaskClock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds since some moment; nobody can set it. */
  elapsed(): number
  /** Runs `act` after some time; the timer alone does not keep the process alive, unless it should. */
  after(ms: number, act: () => void, keepsAlive?: boolean): unknown
  clear(timer: unknown): void
}

/** The time of the machine. */
export const CLOCK: TaskClock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, act, keepsAlive = false) {
    const timer: unknown = setTimeout(act, Math.min(ms, LONGEST_MS))
    if (!keepsAlive) (timer as { unref?: () => void }).unref?.()
    return timer
  },
  clear: (timer) => clearTimeout(timer as number),
}
