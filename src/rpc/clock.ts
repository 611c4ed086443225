import type { McpError } from '../errors/error.ts'

/** Something with timers, which stop and start with a clock. */
export interface Timed {
  /** Its own clock. */
  readonly clock: Clock
  stop(): void
  start(): void
}

/**
 * Measures how long an operation takes. Its parts share the clock, which stands still while a person logs in; `stopClock` does
 * that, which only clients with credentials load.
 */
export class Clock {
  begun: number = performance.now()
  /** Undefined while it runs. */
  stoppedAt: number | undefined
  /** What stops with it: parts of the operation, and others that wait for it. */
  readonly members: Set<Timed> = new Set()
  /** Says more about the error for an operation that took too long, while it waits for a login. */
  explain: ((error: McpError) => McpError) | undefined
  /** The clock of another operation that this one waits for, which then explains its errors. */
  awaited: Clock | undefined
  /** Called with members that join while it is stopped. */
  onJoin: ((member: Timed) => void) | undefined

  /** The milliseconds so far. */
  get elapsed(): number {
    return (this.stoppedAt ?? performance.now()) - this.begun
  }

  set elapsed(ms: number) {
    this.begun += this.elapsed - ms
  }

  join(member: Timed): void {
    this.members.add(member)
    if (member.clock !== this) member.clock.awaited = this
    this.onJoin?.(member)
  }

  leave(member: Timed): void {
    this.members.delete(member)
    if (member.clock !== this) member.clock.awaited = undefined
  }
}
