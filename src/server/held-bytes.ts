import { textBytes, weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MUCH_HELD } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { ownerOf, type Call } from '../rpc/call.ts'

/** One caller may hold this part of what all others leave free, so that a few callers cannot take everything. */
const SHARE = 1 / 4
/** The most that a client may say about itself: far more than any client needs. */
const MAX_INTRODUCTION = 65_536

/** The bytes that a server keeps for all its clients between their requests. */
export class HeldBytes {
  readonly #limit: number
  readonly #holders = new Map<unknown, number>()
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes room for further bytes; throws if the holder's share is used up. */
  take(holder: unknown, bytes: number): void {
    const own = (this.#holders.get(holder) ?? 0) + bytes
    const others = this.#bytes + bytes - own
    if (bytes > 0 && own > (this.#limit - others) * SHARE)
      throw mcpError(TOO_MUCH_HELD, { limit: this.#limit }, MUCH_LATER)
    this.#bytes += bytes
    this.#holders.set(holder, own)
  }

  /** Gives back room. */
  free(holder: unknown, bytes: number): void {
    const own = (this.#holders.get(holder) ?? 0) - bytes
    this.#bytes -= bytes
    if (own > 0) this.#holders.set(holder, own)
    else this.#holders.delete(holder)
  }
}

/** The caller whose share a request uses: an authenticated one, otherwise its session; without one, the request itself. */
export function holderOf({ source, peer, channel }: Call): unknown {
  return source.auth === undefined ? (peer.session ?? channel) : ownerOf(source.auth)
}

/** What it takes to keep the name and the capabilities of a client; throws if that is too much. */
export function weighIntroduction(method: string, client: unknown, capabilities: unknown): number {
  const bytes = weigh([client, capabilities], MAX_INTRODUCTION + 1)
  if (bytes <= MAX_INTRODUCTION) return bytes
  const reason = `clientInfo and capabilities take more than ${MAX_INTRODUCTION} bytes of memory; leave out what the server does not need`
  throw mcpError(BAD_PARAMS, { method, reason })
}

/** What it takes to keep a URI, besides its characters. */
const OVERHEAD = 128

/** URIs that a client watches, counted among the bytes of the server until they are deleted. */
export class WatchedUris extends Set<string> {
  readonly #held: HeldBytes
  readonly #holder: unknown

  /** Throws if there is no room for all of them. */
  constructor(held: HeldBytes, holder: unknown, uris: Iterable<string> = []) {
    super()
    this.#held = held
    this.#holder = holder
    const all = new Set(uris)
    held.take(
      holder,
      [...all].reduce((sum, uri) => sum + sizeOf(uri), 0),
    )
    for (const uri of all) super.add(uri)
  }

  override add(uri: string): this {
    if (!this.has(uri)) this.#held.take(this.#holder, sizeOf(uri))
    return super.add(uri)
  }

  override delete(uri: string): boolean {
    if (!super.delete(uri)) return false
    this.#held.free(this.#holder, sizeOf(uri))
    return true
  }

  override clear(): void {
    for (const uri of this) this.delete(uri)
  }
}

function sizeOf(uri: string): number {
  return textBytes(uri) + OVERHEAD
}
