import { LONGEST_MS } from '../base/duration.ts'
import { soon } from '../base/soon.ts'
import type { Soon } from '../rpc/soon.ts'

/** The time, so that tests can set it. */
export interface TaskClock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds since some moment; nobody can set it. */
  elapsed(): number
  /** Runs `act` after some time; the timer alone does not keep the process alive, unless it should. */
  after(ms: number, act: () => void, keepsAlive?: boolean): unknown
  clear(timer: unknown): void
  /** Reads the time of the store again, if that has a clock. */
  read?(): Soon<void>
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

/**
 * The clock for a store. If that has one of its own, nodes that share it use its time, because their own clocks differ: it is read from time to
 * time, and in between as much has passed as by a clock that nobody can set. It is late by no more than the answer of the store took,
 * so a node never takes another one for dead too early.
 */
export function clockFor(
  store: { readonly now?: (() => Soon<number>) | undefined },
  own: TaskClock,
): TaskClock {
  if (store.now === undefined) return own
  /** The time of the store when the steady clock began to count. */
  let start: number | undefined
  return {
    now: () => (start === undefined ? own.now() : Math.round(start + own.elapsed())),
    elapsed: () => own.elapsed(),
    after: (ms, act, keepsAlive) => own.after(ms, act, keepsAlive),
    clear: (timer) => own.clear(timer),
    read: () => soon(store.now?.(), (now) => void (start = (now as number) - own.elapsed())),
  }
}
