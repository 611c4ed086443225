import { everyMs, type Timer } from './timer.ts'
import type { Service } from '../../rpc/service.ts'

const BEAT_MS = 100
/** A beat that comes so much later than it should is late. */
const LATE_MS = 50
/** How long a server that stood still is not taken for well. */
const UNWELL_MS = 5000

/** Feels whether the event loop keeps up with the requests: its beats come late when it does not. */
export class LoopMonitor {
  readonly #service: Pick<Service, 'observers' | 'report'>
  readonly #blockedMs: number
  #timer: Timer
  #beat = 0
  #asked = 0
  #stoodStill = Number.NEGATIVE_INFINITY

  /** Reports when the loop was blocked for longer than `blockedMs`. */
  constructor(service: Pick<Service, 'observers' | 'report'>, blockedMs: number) {
    this.#service = service
    this.#blockedMs = blockedMs
  }

  /** Whether the next beat is overdue. */
  isLate(): boolean {
    if (this.#timer === undefined) this.#begin()
    this.#asked++
    return performance.now() - this.#beat > BEAT_MS + LATE_MS
  }

  /** Whether the loop did not stand still lately. */
  get well(): boolean {
    return performance.now() - this.#stoodStill > UNWELL_MS
  }

  #begin(): void {
    this.#beat = performance.now()
    this.#timer = everyMs(BEAT_MS, () => this.#feel())
  }

  /** One beat; the last one when nobody asked since the one before. */
  #feel(): void {
    const now = performance.now()
    const late = now - this.#beat - BEAT_MS
    if (late > this.#blockedMs) {
      this.#stoodStill = now
      this.#service.observers.count('loop_blocked')
      this.#service.report('warning', 'the event loop stood still; move heavy work to a worker', {
        ms: Math.round(late),
      })
    }
    if (this.#asked === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#beat = now
    this.#asked = 0
  }
}
