import { onWorkers } from '../../../base/runtime.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { everyMs, type Timer } from '../../io/timer.ts'
import type { EventStream } from './event-stream.ts'
import type { Sessions } from './sessions.ts'

const SWEEP_MS = 30_000

type Watched = Pick<Sessions, 'size' | 'sweep' | 'keepAlive'>

/** Closes idle sessions and keeps streams alive, as long as an endpoint has any. */
export class Sweeper {
  /** How often to look. */
  readonly everyMs: number
  readonly #wantsComments: boolean
  readonly #sessions: Watched
  readonly #streams: ReadonlySet<EventStream>
  #timer: Timer

  constructor({ keepAliveMs }: Limits, sessions: Watched, streams: ReadonlySet<EventStream>) {
    this.#wantsComments = keepAliveMs !== Number.POSITIVE_INFINITY
    this.everyMs = this.#wantsComments ? keepAliveMs : SWEEP_MS
    this.#sessions = sessions
    this.#streams = streams
  }

  begin(): void {
    // On Workers a timer ends with the request that started it, so each open request looks instead.
    if (!onWorkers) this.#timer ??= everyMs(this.everyMs, () => this.look())
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Looks after the sessions and streams once. */
  look(): void {
    this.#sessions.sweep()
    if (this.#wantsComments) {
      this.#sessions.keepAlive()
      for (const stream of this.#streams) stream.keepAlive()
    }
    if (this.#sessions.size + this.#streams.size === 0) this.end()
  }
}
