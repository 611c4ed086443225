import type { Pulse } from './pulse.ts'

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
  readonly connection: { readonly destroyed: boolean }
  serve(waitedMs: number): void
}

/**
 * Serves requests at once while it can. When many come together they stand in line, and whoever is at the door is let in
 * before anybody else is served: the runtime accepts one new connection each turn, so a busy server would otherwise
 * not see how many wait outside, nor for how long.
 */
export class Intake {
  readonly #pulse: Pulse
  readonly #maxMs: number
  readonly #known = new WeakSet<object>()
  readonly #line: Waiting[] = []
  #someoneCame = false
  #gathering = 0
  /** When the last newcomer was served; later than ever while one is. */
  #newcomerAt = Number.NEGATIVE_INFINITY

  /** Those who waited longer than `maxMs` in a long line are told so. */
  constructor(pulse: Pulse, maxMs: number) {
    this.#pulse = pulse
    this.#maxMs = maxMs
  }

  /** Whether a request on a connection can be served at once. */
  isFree(connection: object): boolean {
    const isFree = this.#line.length === 0 && !this.#pulse.isLate()
    if (this.#known.has(connection)) return isFree
    this.#known.add(connection)
    const isCalm = performance.now() - this.#newcomerAt > RUSH_MS
    this.#newcomerAt = Number.POSITIVE_INFINITY
    if (!isFree || !isCalm) {
      this.#someoneCame = true
      return false
    }
    setImmediate(() => (this.#newcomerAt = performance.now()))
    return true
  }

  /** Serves a request in its turn, unless its connection is gone by then. */
  queue(connection: Waiting['connection'], serve: Waiting['serve']): void {
    const since = performance.now()
    if (this.#line.length === 0) this.#gather(since)
    this.#line.push({ since, connection, serve })
  }

  #gather(now: number): void {
    this.#gathering = now
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    const now = performance.now()
    if (this.#someoneCame && now - this.#gathering < GATHER_MS) {
      this.#someoneCame = false
      return void setImmediate(() => this.#turn())
    }
    try {
      const until = now + SERVE_MS
      while (this.#line.length > 0 && performance.now() < until) this.#serveOne()
    } finally {
      this.#newcomerAt = performance.now()
      if (this.#line.length > 0) this.#gather(this.#newcomerAt)
    }
  }

  /**
   * Serves whoever came first. In a line that is too long to be served in time that would help nobody: there those at
   * its end are served in time, and those in front are told, once they waited for too long, how long they did.
   */
  #serveOne(): void {
    const waitedMs = performance.now() - this.#line[0]!.since
    const isHopeless = this.#line.length > FEW && waitedMs > PATIENCE_MS
    const isOver = waitedMs > this.#maxMs
    const { connection, serve } = (isHopeless && !isOver ? this.#line.pop() : this.#line.shift())!
    if (!connection.destroyed) serve(isHopeless && isOver ? waitedMs : 0)
  }
}
