import { clip } from '../base/clip.ts'
import { hasFarLess, isWithinShare, shareOf } from '../base/share.ts'
import { textBytes, weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { TOO_MUCH_HELD } from '../errors/server.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { MUCH_LATER } from '../errors/retry-after.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { ownerOf, type Call, type ClientInfo } from '../rpc/call.ts'
import { Session } from '../rpc/session.ts'

/** The most that a client may say about itself: far more than any client needs. */
const MAX_INTRODUCTION = 65_536
/** The most that is kept of it. All sessions together then take less than the limit, if the session table is full. */
const KEPT_INTRODUCTION = 4096
const NAME_CHARS = 200

/** The bytes that a server keeps for all its clients between their requests. */
export class HeldBytes {
  readonly #limit: number
  readonly #holders = new Map<unknown, number>()
  /** How to take everything from an anonymous holder that is not a session. */
  readonly evictors: Map<unknown, () => void> = new Map()
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes room for further bytes; throws if the holder's share is used up, and no other that holds more can be evicted. */
  take(holder: unknown, bytes: number): void {
    const own = (this.#holders.get(holder) ?? 0) + bytes
    if (bytes > 0 && !this.#hasRoom(own, bytes) && !this.#makeRoom(own, bytes))
      throw mcpError(TOO_MUCH_HELD, { limit: this.#limit }, MUCH_LATER)
    this.#bytes += bytes
    this.#holders.set(holder, own)
  }

  #hasRoom(own: number, bytes: number): boolean {
    return isWithinShare(own, this.#bytes + bytes, this.#limit)
  }

  /** Evicts anonymous callers that hold more than `own` bytes, those with the most first, until there is room; false if there is none. */
  #makeRoom(own: number, bytes: number): boolean {
    if (own > shareOf(this.#limit)) return false
    const larger = [...this.#holders].filter(([, size]) => size > own)
    larger.sort(([, one], [, other]) => other - one)
    return larger.some(
      ([holder, size]) => this.#evict(holder, hasFarLess(own, size)) && this.#hasRoom(own, bytes),
    )
  }

  #evict(holder: unknown, isLarge: boolean): boolean {
    if (holder instanceof Session) return holder.evict?.(holder, isLarge) === true
    const end = isLarge ? this.evictors.get(holder) : undefined
    end?.()
    return end !== undefined
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

/** The name and capabilities of a client, as far as the server keeps them. */
export interface Introduction {
  readonly client: ClientInfo
  readonly capabilities: JsonObject
  readonly bytes: number
}

/** Leaves out what makes an introduction large, such as icons and settings; throws if it is far too large. */
export function toIntroduction(method: string, client: ClientInfo, capabilities: JsonObject): Introduction {
  const bytes = weighIntroduction(method, client, capabilities)
  if (bytes <= KEPT_INTRODUCTION) return { client, capabilities, bytes }
  const room = KEPT_INTRODUCTION / 2
  const name = clip(client.name, NAME_CHARS)
  const version = clip(client.version, NAME_CHARS)
  const kept = [
    { ...fitting(client as unknown as JsonObject, room / 2), name, version },
    fitting(capabilities, room),
  ]
  // Copied because part of a text keeps all of it in memory.
  const [info, declared] = JSON.parse(JSON.stringify(kept)) as [ClientInfo, JsonObject]
  return { client: info, capabilities: declared, bytes: weigh(kept) }
}

/** An object without the largest of its parts, so that the rest takes at most `room` bytes. */
function fitting(value: JsonObject, room: number): JsonObject {
  if (room <= 0) return {}
  const kept: [string, unknown][] = []
  let left = room
  const members = Object.entries(value).map(([name, part]) => ({
    name,
    part,
    bytes: weigh({ [name]: part }, room + 1),
  }))
  for (const { name, part, bytes } of members.sort((one, other) => one.bytes - other.bytes)) {
    const isWhole = bytes <= left
    if (!isWhole && !isObject(part)) continue
    const rest = isWhole ? part : fitting(part as JsonObject, left - weigh({ [name]: {} }))
    const size = isWhole ? bytes : weigh({ [name]: rest })
    if (size > left) continue
    left -= size
    kept.push([name, rest])
  }
  return Object.fromEntries(kept)
}

/** The memory that the name and capabilities of a client take; throws if that is too much. */
export function weighIntroduction(method: string, client: unknown, capabilities: unknown): number {
  const bytes = weigh([client, capabilities], MAX_INTRODUCTION + 1)
  if (bytes <= MAX_INTRODUCTION) return bytes
  const reason = `clientInfo and capabilities take more than ${MAX_INTRODUCTION} bytes of memory; leave out what the server does not need`
  throw mcpError(BAD_PARAMS, { method, reason })
}

/** The memory that a kept URI takes besides its characters. */
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
