import type { LoopMonitor } from './loop-monitor.ts'

/** How long queued requests are served before new connections are accepted again. */
const SERVE_MS = 50
/** How long new connections are accepted before queued requests are served again. */
const GATHER_MS = 50
/** New connections this close together count as a burst. */
const RUSH_MS = 10
/** A queue no longer than this is served in order of arrival, however long that takes. */
const FEW = 32
/** A queue whose oldest request waited no longer than this can still be served in time. */
const PATIENCE_MS = 100

interface Waiting {
  readonly since: number
  serve(isLate: boolean): void
}

export interface AcceptQueueOptions {
  readonly loopMonitor: Pick<LoopMonitor, 'isLate'>
  /** Requests that waited longer than this in a long queue are served as late. */
  readonly maxMs: number
  readonly now?: () => number
}

/**
 * Serves requests at once while it can. During a burst it queues them and accepts all new connections before it serves
 * any: the runtime accepts one connection per turn of the event loop, so a busy server would otherwise not see how many
 * are waiting, nor for how long.
 */
export class AcceptQueue {
  readonly #loopMonitor: Pick<LoopMonitor, 'isLate'>
  readonly #maxMs: number
  readonly #now: () => number
  readonly #known = new WeakSet<object>()
  readonly #waiting: Waiting[] = []
  #hasNew = false
  #gathering = 0
  /** When the last new connection was served; `Infinity` while one is being served. */
  #newServedAt = Number.NEGATIVE_INFINITY
  #onEmpty: (() => void) | undefined

  constructor({ loopMonitor, maxMs, now = () => performance.now() }: AcceptQueueOptions) {
    this.#loopMonitor = loopMonitor
    this.#maxMs = maxMs
    this.#now = now
  }

  /** Says whether a request that arrives on a connection may be served at once; otherwise it must `queue`. */
  enter(connection: object): boolean {
    const isFree = this.#waiting.length === 0 && !this.#loopMonitor.isLate()
    if (this.#known.has(connection)) return isFree
    this.#known.add(connection)
    const isCalm = this.#now() - this.#newServedAt > RUSH_MS
    this.#newServedAt = Number.POSITIVE_INFINITY
    if (!isFree || !isCalm) {
      this.#hasNew = true
      return false
    }
    setImmediate(() => (this.#newServedAt = this.#now()))
    return true
  }

  /** Queues a request and serves it in its turn. */
  queue(serve: Waiting['serve']): void {
    const since = this.#now()
    if (this.#waiting.length === 0) this.#gather(since)
    this.#waiting.push({ since, serve })
  }

  /** Resolves when the queue is empty. */
  emptied(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) resolve()
      else this.#onEmpty = resolve
    })
  }

  #gather(now: number): void {
    this.#gathering = now
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    const now = this.#now()
    if (this.#hasNew && now - this.#gathering < GATHER_MS) {
      this.#hasNew = false
      return void setImmediate(() => this.#turn())
    }
    try {
      const until = now + SERVE_MS
      while (this.#waiting.length > 0 && this.#now() < until) this.#serveOne()
    } finally {
      this.#newServedAt = this.#now()
      if (this.#waiting.length > 0) this.#gather(this.#newServedAt)
      else this.#onEmpty?.()
    }
  }

  /**
   * Serves the oldest request. When the queue is too long for that to be in time, it serves the newest ones instead, and
   * the oldest as late once they have waited longer than `maxMs`.
   */
  #serveOne(): void {
    const waitedMs = this.#now() - this.#waiting[0]!.since
    const isHopeless =
      this.#waiting.length > FEW && waitedMs > PATIENCE_MS && this.#maxMs !== Number.POSITIVE_INFINITY
    const isLate = isHopeless && waitedMs > this.#maxMs
    const next = isHopeless && !isLate ? this.#waiting.pop() : this.#waiting.shift()
    next!.serve(isLate)
  }
}
