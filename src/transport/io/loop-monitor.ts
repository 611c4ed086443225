import { everyMs, type Timer } from './timer.ts'
import type { Service } from '../../rpc/service.ts'

const TICK_MS = 100
/** A tick delayed by more than this is late. */
const LATE_MS = 50
/** How long a server counts as unwell after its event loop was blocked. */
const UNWELL_MS = 5000

/** Detects event-loop lag: a timer ticks late when the loop does not keep up. */
export class LoopMonitor {
  readonly #service: Pick<Service, 'observers' | 'report'>
  readonly #blockedMs: number
  #timer: Timer
  #tickedAt = 0
  #checks = 0
  #blockedAt = Number.NEGATIVE_INFINITY

  /** Reports when the loop was blocked for longer than `blockedMs`. */
  constructor(service: Pick<Service, 'observers' | 'report'>, blockedMs: number) {
    this.#service = service
    this.#blockedMs = blockedMs
  }

  /** Whether the next tick is overdue. */
  isLate(): boolean {
    if (this.#timer === undefined) this.#begin()
    this.#checks++
    return performance.now() - this.#tickedAt > TICK_MS + LATE_MS
  }

  /** Whether the loop was not blocked recently. */
  get well(): boolean {
    return performance.now() - this.#blockedAt > UNWELL_MS
  }

  #begin(): void {
    this.#tickedAt = performance.now()
    this.#timer = everyMs(TICK_MS, () => this.#tick())
  }

  /** Handles one tick; stops the timer when `isLate` was not called since the previous one. */
  #tick(): void {
    const now = performance.now()
    const late = now - this.#tickedAt - TICK_MS
    if (late > this.#blockedMs) {
      this.#blockedAt = now
      this.#service.observers.count('loop_blocked')
      this.#service.report('warning', 'the event loop was blocked; move heavy work to a worker', {
        ms: Math.round(late),
      })
    }
    if (this.#checks === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#tickedAt = now
    this.#checks = 0
  }
}
