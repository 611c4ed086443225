import { isWithinAddressShare, shareOf } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MANY_QUESTIONS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import { anonymousNetwork, ownerOf, type Asking, type Call } from './call.ts'

/** A request that may wait for answers. */
interface Asker {
  asking?: Asking | undefined
}

/** Counts the requests that wait for answers of their clients. Each request keeps its own questions. */
export class Questions {
  readonly #callers = new Tally()
  readonly #networks = new Tally()
  #size = 0

  /** The number of requests that wait. */
  get size(): number {
    return this.#size
  }

  /** Adds a question of a request. Says whether it is its only one; throws if there is no room for another request. */
  begin(call: Call, most: number): boolean {
    if (call.asking !== undefined) {
      call.asking.count++
      return false
    }
    const caller = call.source.auth === undefined ? call.peer.session : ownerOf(call.source.auth)
    const network = anonymousNetwork(call.source)
    const own = this.#callers.get(caller)
    const near = network === undefined ? 0 : this.#networks.get(network)
    if (near > own && !isWithinAddressShare(near + 1, this.#size + 1, most))
      throw mcpError(TOO_MANY_QUESTIONS, {}, SOON)
    const room = most - this.#size + own
    if (own >= Math.max(Math.min(room, 1), shareOf(room))) throw mcpError(TOO_MANY_QUESTIONS, {}, SOON)
    call.asking = { count: 1, caller, network }
    this.#count(call.asking, 1)
    return true
  }

  /** Removes a question. Says whether it was the last one of its request. */
  end(call: Asker): boolean {
    return call.asking !== undefined && --call.asking.count === 0 && this.delete(call)
  }

  /** Removes all questions of a request. Says whether there were any. */
  delete(call: Asker): boolean {
    const { asking } = call
    if (asking === undefined) return false
    call.asking = undefined
    this.#count(asking, -1)
    return true
  }

  #count({ caller, network }: Asking, number: 1 | -1): void {
    this.#size += number
    this.#callers.add(caller, number)
    if (network !== undefined) this.#networks.add(network, number)
  }
}
