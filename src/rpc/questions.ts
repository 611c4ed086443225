import { isWithinAddressShare, shareOf } from '../base/share.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MANY_QUESTIONS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import { anonymousNetwork, ownerOf, type Call } from './call.ts'

/** The requests that wait for answers of their clients: for how many, and whose each is. */
export class Questions extends Map<
  object,
  { count: number; readonly caller: unknown; readonly network: string | undefined }
> {
  /** Adds a question of a request. Says whether it is its only one; throws if there is no room for another request. */
  begin(call: Call, most: number): boolean {
    const asking = this.get(call)
    if (asking !== undefined) {
      asking.count++
      return false
    }
    const caller = call.source.auth === undefined ? call.peer.session : ownerOf(call.source.auth)
    const network = anonymousNetwork(call.source)
    let own = 0
    let near = 0
    for (const each of this.values()) {
      if (each.caller === caller) own++
      if (network !== undefined && each.network === network) near++
    }
    if (near > own && !isWithinAddressShare(near + 1, this.size + 1, most))
      throw mcpError(TOO_MANY_QUESTIONS, {}, SOON)
    const room = most - this.size + own
    if (own >= Math.max(Math.min(room, 1), shareOf(room))) throw mcpError(TOO_MANY_QUESTIONS, {}, SOON)
    this.set(call, { count: 1, caller, network })
    return true
  }

  /** Removes a question. Says whether it was the last one of its request. */
  end(call: Call): boolean {
    const asking = this.get(call)
    return asking !== undefined && --asking.count === 0 && this.delete(call)
  }
}
