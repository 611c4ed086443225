import { hasFarLess, hasShare, shareOf } from '../base/share.ts'
import { Tally } from '../base/tally.ts'
import { textBytes } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MUCH_HELD } from '../errors/server.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { anonymousNetwork, ownerOf, type Call } from '../rpc/call.ts'
import type { Changes, Watcher } from '../rpc/changes.ts'
import { Session } from '../rpc/session.ts'

/** How long nobody is looked for again on behalf of callers like one for whom nobody was found. */
const PAUSE_MS = 1000

/** The bytes that a server keeps for all its clients between their requests. */
export class HeldBytes {
  readonly #limit: number
  readonly #holders = new Tally()
  /** The bytes of anonymous holders, by network. */
  readonly #networks = new Tally()
  /** Functions that free everything of a holder that is neither authenticated nor a session. */
  readonly evictors: Map<unknown, () => void> = new Map()
  #bytes = 0
  /** Those for whom nobody was found to evict, by their network, or the caller if it is authenticated, and since when. */
  readonly #refused = new Map<unknown, Set<string>>()
  #refusedSince = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes room for further bytes; throws if the share of the holder or its network is used up, and no other that holds more can be evicted. */
  take(holder: unknown, bytes: number): void {
    if (bytes > 0 && !this.#hasRoom(holder, bytes) && !this.#makeRoom(holder, bytes))
      throw mcpError(TOO_MUCH_HELD, { limit: this.#limit, share: 'a quarter' }, MUCH_LATER)
    this.#add(holder, bytes)
  }

  #hasRoom(holder: unknown, bytes: number): boolean {
    const own = this.#holders.get(holder) + bytes
    return hasShare({ own, near: this.#near(holder) + bytes, total: this.#bytes + bytes }, this.#limit)
  }

  /** The bytes of a holder and of all others in its network. */
  #near(holder: unknown): number {
    const network = networkOf(holder)
    return network === undefined ? this.#holders.get(holder) : this.#networks.get(network)
  }

  /**
   * Evicts anonymous callers until there is room, those with the most first: those that hold more than this one and are in no smaller
   * network, and all in a network that holds far more. False if there is none. Looking for them takes long if there are many, and any
   * caller may ask often, so one that can be evicted only since the last look is found up to a second later.
   */
  #makeRoom(holder: unknown, bytes: number): boolean {
    const own = this.#holders.get(holder) + bytes
    if (own > shareOf(this.#limit)) return false
    const near = this.#near(holder)
    const refused = this.#refusedLike(holder)
    const size = `${Math.floor(4 * Math.log2(own))} ${Math.floor(Math.log2(near + bytes))}`
    if (refused.has(size)) return false
    const isFar = (network: number): boolean => hasFarLess(near + bytes, network)
    for (const [other, taken] of this.#larger(own, near, isFar)) {
      const isLarge = hasFarLess(own, taken) || (networkOf(other) !== undefined && isFar(this.#near(other)))
      if (this.#evict(other, isLarge) && this.#hasRoom(holder, bytes)) return true
    }
    refused.add(size)
    return false
  }

  /** The sizes of callers from the same network that were refused recently. */
  #refusedLike(holder: unknown): Set<string> {
    const now = performance.now()
    if (now - this.#refusedSince >= PAUSE_MS) {
      this.#refused.clear()
      this.#refusedSince = now
    }
    const key = typeof holder === 'object' ? networkOf(holder) : holder
    const known = this.#refused.get(key)
    if (known !== undefined) return known
    const sizes = new Set<string>()
    this.#refused.set(key, sizes)
    return sizes
  }

  /** The holders to evict for a caller, those with the most first. */
  #larger(own: number, near: number, isFar: (network: number) => boolean): (readonly [unknown, number])[] {
    const isAnyFar = [...this.#networks.values()].some(isFar)
    const larger: [unknown, number][] = []
    for (const entry of this.#holders) {
      const [other, size] = entry
      // Most are neither, and their networks need not be looked up.
      if (size <= own && !isAnyFar) continue
      const others = this.#near(other)
      if ((size > own && others >= near) || (networkOf(other) !== undefined && isFar(others)))
        larger.push(entry)
    }
    return larger.sort(([, one], [, other]) => other - one)
  }

  #evict(holder: unknown, isLarge: boolean): boolean {
    if (holder instanceof Session) return holder.evict?.(holder, isLarge) === true
    const end = isLarge ? this.evictors.get(holder) : undefined
    end?.()
    return end !== undefined
  }

  /** Gives back room. */
  free(holder: unknown, bytes: number): void {
    this.#add(holder, -bytes)
  }

  #add(holder: unknown, bytes: number): void {
    this.#bytes += bytes
    this.#holders.add(holder, bytes)
    const network = networkOf(holder)
    if (network !== undefined) this.#networks.add(network, bytes)
  }
}

/** The networks of anonymous holders, as they were when they first held something. */
const NETWORKS = new WeakMap<object, string | undefined>()

function networkOf(holder: unknown): string | undefined {
  return typeof holder === 'object' && holder !== null ? NETWORKS.get(holder) : undefined
}

/** The caller whose share a request uses: an authenticated one, otherwise its session; without one, the request itself. */
export function holderOf({ source, peer, channel }: Pick<Call, 'source' | 'peer' | 'channel'>): unknown {
  if (source.auth !== undefined) return ownerOf(source.auth)
  const holder = peer.session ?? channel
  if (!NETWORKS.has(holder)) NETWORKS.set(holder, anonymousNetwork(source))
  return holder
}

/** The memory that a kept URI takes besides its characters. */
const OVERHEAD = 128

export interface WatchedOptions {
  readonly held: HeldBytes
  readonly holder: unknown
  readonly changes: Changes
  readonly watcher: Watcher
  /** Called when a URI is added or deleted, after the first ones. It may refuse one by throwing. */
  readonly onChange?: (uri: string, isWatched: boolean) => void
}

/** URIs that a client watches, counted among the bytes of the server until they are deleted. */
export class WatchedUris extends Set<string> {
  readonly #options: WatchedOptions

  /** Throws if there is no room for all of them. */
  constructor(options: WatchedOptions, uris: Iterable<string> = []) {
    super()
    this.#options = options
    const all = new Set(uris)
    options.held.take(
      options.holder,
      [...all].reduce((sum, uri) => sum + sizeOf(uri), 0),
    )
    for (const uri of all) this.#watch(uri)
  }

  override add(uri: string): this {
    if (this.has(uri)) return this
    const { held, holder, onChange } = this.#options
    held.take(holder, sizeOf(uri))
    try {
      onChange?.(uri, true)
    } catch (error) {
      held.free(holder, sizeOf(uri))
      throw error
    }
    return this.#watch(uri)
  }

  #watch(uri: string): this {
    this.#options.changes.watch(uri, this.#options.watcher)
    return super.add(uri)
  }

  override delete(uri: string): boolean {
    if (!super.delete(uri)) return false
    const { held, holder, changes, watcher } = this.#options
    held.free(holder, sizeOf(uri))
    changes.unwatch(uri, watcher)
    this.#options.onChange?.(uri, false)
    return true
  }

  override clear(): void {
    for (const uri of this) this.delete(uri)
  }
}

function sizeOf(uri: string): number {
  return textBytes(uri) + OVERHEAD
}
