import { shareOf } from '../base/share.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MANY_QUESTIONS } from '../errors/limits.ts'
import { SOON } from '../errors/retry-after.ts'
import { ownerOf, type Call } from './call.ts'

/** The requests that wait for answers of their clients: for how many, and whose each is. */
export class Questions extends Map<object, { count: number; readonly caller: unknown }> {
  /** Adds a question of a request. Says whether it is its only one; throws if there is no room for another request. */
  begin(call: Call, most: number): boolean {
    const asking = this.get(call)
    if (asking !== undefined) {
      asking.count++
      return false
    }
    const caller = call.source.auth === undefined ? call.peer.session : ownerOf(call.source.auth)
    let own = 0
    for (const each of this.values()) if (each.caller === caller) own++
    const room = most - this.size + own
    if (own >= Math.max(Math.min(room, 1), shareOf(room))) throw mcpError(TOO_MANY_QUESTIONS, {}, SOON)
    this.set(call, { count: 1, caller })
    return true
  }

  /** Removes a question. Says whether it was the last one of its request. */
  end(call: Call): boolean {
    const asking = this.get(call)
    return asking !== undefined && --asking.count === 0 && this.delete(call)
  }
}
