import type { LoopMonitor } from './loop-monitor.ts'

/** How long requests are served before it is seen who else has come. */
const SERVE_MS = 50
/** How long those who come are let in before somebody is served again. */
const GATHER_MS = 50
/** Two newcomers are a rush when so little time lies between the end of the one and the arrival of the other. */
const RUSH_MS = 10
/** When no more than so many wait, they are served in the order of their coming, however long it takes. */
const FEW = 32
/** So long the first in line has not waited in vain. */
const PATIENCE_MS = 100

interface Waiting {
  readonly since: number
  serve(isLate: boolean): void
}

export interface AcceptQueueOptions {
  readonly loopMonitor: Pick<LoopMonitor, 'isLate'>
  /** Who waited longer in a long line is told that it is late. */
  readonly maxMs: number
  readonly now?: () => number
}

/**
 * Serves requests at once while it can. When many come together they stand in line, and whoever is at the door is let in
 * before anybody else is served: the runtime accepts one new connection each turn, so a busy server would otherwise
 * not see how many wait outside, nor for how long.
 */
export class AcceptQueue {
  readonly #loopMonitor: Pick<LoopMonitor, 'isLate'>
  readonly #maxMs: number
  readonly #now: () => number
  readonly #known = new WeakSet<object>()
  readonly #line: Waiting[] = []
  #someoneCame = false
  #gathering = 0
  /** When the last newcomer was served; later than ever while one is. */
  #newcomerAt = Number.NEGATIVE_INFINITY
  #onEmpty: (() => void) | undefined

  constructor({ loopMonitor, maxMs, now = () => performance.now() }: AcceptQueueOptions) {
    this.#loopMonitor = loopMonitor
    this.#maxMs = maxMs
    this.#now = now
  }

  /** A request comes on a connection. False when it cannot be served at once: then it must `queue`. */
  enter(connection: object): boolean {
    const isFree = this.#line.length === 0 && !this.#loopMonitor.isLate()
    if (this.#known.has(connection)) return isFree
    this.#known.add(connection)
    const isCalm = this.#now() - this.#newcomerAt > RUSH_MS
    this.#newcomerAt = Number.POSITIVE_INFINITY
    if (!isFree || !isCalm) {
      this.#someoneCame = true
      return false
    }
    setImmediate(() => (this.#newcomerAt = this.#now()))
    return true
  }

  /** Serves a request in its turn. */
  queue(serve: Waiting['serve']): void {
    const since = this.#now()
    if (this.#line.length === 0) this.#gather(since)
    this.#line.push({ since, serve })
  }

  /** Resolves when nobody stands in line. */
  emptied(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#line.length === 0) resolve()
      else this.#onEmpty = resolve
    })
  }

  #gather(now: number): void {
    this.#gathering = now
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    const now = this.#now()
    if (this.#someoneCame && now - this.#gathering < GATHER_MS) {
      this.#someoneCame = false
      return void setImmediate(() => this.#turn())
    }
    try {
      const until = now + SERVE_MS
      while (this.#line.length > 0 && this.#now() < until) this.#serveOne()
    } finally {
      this.#newcomerAt = this.#now()
      if (this.#line.length > 0) this.#gather(this.#newcomerAt)
      else this.#onEmpty?.()
    }
  }

  /**
   * Serves whoever came first. In a line that is too long to be served in time that would help nobody: there those at
   * its end are served in time, and those in front are told, once they waited for too long, that they are late.
   */
  #serveOne(): void {
    const waitedMs = this.#now() - this.#line[0]!.since
    const isHopeless =
      this.#line.length > FEW && waitedMs > PATIENCE_MS && this.#maxMs !== Number.POSITIVE_INFINITY
    const isLate = isHopeless && waitedMs > this.#maxMs
    const next = isHopeless && !isLate ? this.#line.pop() : this.#line.shift()
    next!.serve(isLate)
  }
}
