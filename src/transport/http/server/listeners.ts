import { mcpError } from '../../../errors/error.ts'
import { OVERLOADED } from '../../../errors/rpc.ts'
import { MUCH_LATER } from '../../../errors/retry-after.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { anonymousNetwork, ownerOf, type Call } from '../../../rpc/call.ts'
import type { Observers } from '../../../rpc/observer.ts'
import { Owners } from '../../io/owners.ts'

interface Listener {
  readonly call: Call
  /** The caller or the network whose streams it is counted with. */
  readonly countedFor: string
}

/** The open `subscriptions/listen` requests of one endpoint. As many may be open as sessions. */
export class Listeners {
  readonly #limits: Limits
  readonly #observers: Observers
  readonly #open = new Set<Listener>()
  readonly #owners = new Owners<Listener>()

  constructor(limits: Limits, observers: Observers) {
    this.#limits = limits
    this.#observers = observers
  }

  /**
   * Counts a request until it is answered. If there is no room, the owner with the most loses its newest stream, which ends
   * with its result, so that those who listen for long are not disturbed. Throws if no owner has far more than this one.
   */
  enter(call: Call): void {
    const countedFor = anonymousNetwork(call.source) ?? ownerOf(call.source.auth)
    if (this.#open.size >= this.#limits.sessions) this.#makeRoom(countedFor)
    const listener = { call, countedFor }
    this.#open.add(listener)
    this.#owners.add(listener)
    call.onEnd = () => this.#leave(listener)
  }

  #makeRoom(owner: string): void {
    const { items, isLarge } = this.#owners.largest(owner)
    const newest = isLarge ? [...items].at(-1) : undefined
    if (newest === undefined) throw mcpError(OVERLOADED, {}, MUCH_LATER)
    // Its end takes a few steps; until then, it must not count, nor be chosen again.
    this.#leave(newest)
    this.#observers.count('listener_evicted')
    newest.call.abort(mcpError(OVERLOADED, {}, MUCH_LATER))
  }

  #leave(listener: Listener): void {
    if (this.#open.delete(listener)) this.#owners.delete(listener)
  }
}
