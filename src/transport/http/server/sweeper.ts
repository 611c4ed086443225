import type { Limits } from '../../../protocol/limits.ts'
import { everyMs, type Timer } from '../../io/timer.ts'
import type { EventStream } from './event-stream.ts'
import type { Sessions } from './sessions.ts'

const SWEEP_MS = 30_000

type Watched = Pick<Sessions, 'size' | 'sweep' | 'keepAlive'>

/** Closes idle sessions and keeps streams alive, as long as an endpoint has any. */
export class Sweeper {
  readonly #everyMs: number
  readonly #wantsComments: boolean
  readonly #sessions: Watched
  readonly #streams: ReadonlySet<EventStream>
  #timer: Timer
  #lookedAt = 0

  constructor({ keepAliveMs }: Limits, sessions: Watched, streams: ReadonlySet<EventStream>) {
    this.#wantsComments = keepAliveMs !== Number.POSITIVE_INFINITY
    this.#everyMs = this.#wantsComments ? keepAliveMs : SWEEP_MS
    this.#sessions = sessions
    this.#streams = streams
  }

  begin(): void {
    if (this.#timer !== undefined) return
    this.#lookedAt = performance.now()
    this.#timer = everyMs(this.#everyMs, () => this.#look())
  }

  /** Starts the timer again if it has stopped, which happens where timers end with the request that started them. */
  revive(): void {
    if (this.#timer === undefined || performance.now() - this.#lookedAt < 2 * this.#everyMs) return
    this.end()
    this.begin()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    this.#lookedAt = performance.now()
    this.#sessions.sweep()
    if (this.#wantsComments) {
      this.#sessions.keepAlive()
      for (const stream of this.#streams) stream.keepAlive()
    }
    if (this.#sessions.size + this.#streams.size === 0) this.end()
  }
}
