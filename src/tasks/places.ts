import { Heap } from '../base/heap.ts'
import { isWithinAddressShare } from '../base/share.ts'
import { Tally } from '../base/tally.ts'

/**
 * The tasks that anonymous callers of each network have created here and that are still kept: anyone can open many sessions, so the
 * limit of one caller does not hold them back.
 */
export class TaskPlaces {
  readonly #limit: number
  readonly #networks = new Tally()
  readonly #ends = new Heap<string>()
  #total = 0

  /** `limit` is the number of tasks of all callers. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of tasks of a network. */
  countOf(network: string): number {
    return this.#networks.get(network)
  }

  /** Whether the callers of a network may create another task. */
  hasRoom(network: string | undefined, now: number): boolean {
    if (network === undefined) return true
    for (let first = this.#ends.first; first !== undefined && first.at <= now; first = this.#ends.first) {
      this.#ends.remove(first)
      this.#count(first.item, -1)
    }
    return isWithinAddressShare(this.countOf(network) + 1, this.#total + 1, this.#limit)
  }

  /** Counts a task of a network until it is removed. */
  add(network: string | undefined, until: number): void {
    if (network === undefined) return
    this.#ends.add(until, network)
    this.#count(network, 1)
  }

  #count(network: string, number: 1 | -1): void {
    this.#total += number
    this.#networks.add(network, number)
  }
}
