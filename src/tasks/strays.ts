import { isWithinAddressShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { TOO_MANY_CALLS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Run } from './run.ts'
import type { TaskHolder } from './bytes.ts'

/** The handlers that still run although their task is over. As many may run as calls that were cancelled. */
export class Strays {
  readonly #limits: Pick<Limits, 'inFlight' | 'allInFlight'>
  readonly #all = new Set<Run>()
  readonly #holders = new Tally()
  readonly #networks = new Tally()

  constructor(limits: Pick<Limits, 'inFlight' | 'allInFlight'>) {
    this.#limits = limits
  }

  /** The error of a new task of a holder whose handlers do not stop; undefined if it may begin. */
  refusalFor({ name, network }: TaskHolder): McpError | undefined {
    const { inFlight, allInFlight } = this.#limits
    const own = this.#holders.get(name)
    const near = network === undefined ? 0 : this.#networks.get(network)
    const isFull = this.#all.size >= allInFlight || own >= inFlight
    if (!isFull && (near === 0 || isWithinAddressShare(near + 1, this.#all.size + 1, allInFlight)))
      return undefined
    return mcpError(TOO_MANY_CALLS, { limit: Math.max(own, near) }, SOON)
  }

  add(run: Run): void {
    if (!this.#all.has(run)) this.#count(run, 1)
    this.#all.add(run)
  }

  delete(run: Run): void {
    if (this.#all.delete(run)) this.#count(run, -1)
  }

  #count({ holder: { name, network } }: Run, number: 1 | -1): void {
    this.#holders.add(name, number)
    if (network !== undefined) this.#networks.add(network, number)
  }
}
