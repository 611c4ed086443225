import { isWithinAddressShare, isWithinShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TOO_MANY_CALLS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Run } from './run.ts'
import type { TaskHolder } from './bytes.ts'
import type { TaskClock } from './clock.ts'

/** Milliseconds for which a handler that does not stop takes a place. Its memory counts until it ends. */
const PLACE_MS = 600_000

/**
 * The handlers that still run although their task is over. One caller may have as many as calls that were cancelled, and a quarter of
 * what others leave free; one that has none is never rejected because of others.
 */
export class Strays {
  readonly #limits: Pick<Limits, 'inFlight' | 'allInFlight'>
  readonly #clock: TaskClock
  /** When each of them became one; the oldest is the first. */
  readonly #all = new Map<Run, number>()
  readonly #holders = new Tally()
  readonly #networks = new Tally()

  constructor(limits: Pick<Limits, 'inFlight' | 'allInFlight'>, clock: TaskClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** The error of a new task of a holder whose handlers do not stop; undefined if it may begin. */
  refusalFor({ name, network }: TaskHolder): McpError | undefined {
    if (this.#all.size === 0) return undefined
    this.#forgetOld()
    const own = this.#holders.get(name)
    const near = network === undefined ? 0 : this.#networks.get(network)
    const { inFlight, allInFlight } = this.#limits
    const total = this.#all.size + 1
    const isRoom = own === 0 || (own < inFlight && isWithinShare(own + 1, total, allInFlight))
    if (isRoom && (near === 0 || isWithinAddressShare(near + 1, total, allInFlight))) return undefined
    return mcpError(TOO_MANY_CALLS, { limit: Math.max(own, near) }, SOON)
  }

  add(run: Run): void {
    if (this.#all.has(run)) return
    this.#count(run, 1)
    this.#all.set(run, this.#clock.elapsed())
  }

  delete(run: Run): void {
    if (this.#all.delete(run)) this.#count(run, -1)
  }

  #forgetOld(): void {
    const since = this.#clock.elapsed() - PLACE_MS
    for (const [run, at] of this.#all) {
      if (at > since) return
      this.delete(run)
    }
  }

  #count({ holder: { name, network } }: Run, number: 1 | -1): void {
    this.#holders.add(name, number)
    if (network !== undefined) this.#networks.add(network, number)
  }
}
