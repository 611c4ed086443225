import { asSent } from '../base/as-sent.ts'
import { clip } from '../base/clip.ts'
import { weigh } from '../base/weight.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { ClientInfo } from '../rpc/call.ts'

/** The most bytes that a client may say about itself: far more than any client needs. */
const MAX_INTRODUCTION = 65_536
/** The most bytes that are kept of it. All sessions together then take less than the limit, if the session table is full. */
const KEPT_INTRODUCTION = 4096
/** The most characters that are kept of a long name or version. */
const NAME_CHARS = 200

/** What a client says about itself in the handshake. */
export interface Introduction {
  readonly clientInfo: ClientInfo
  readonly capabilities: JsonObject
}

/**
 * An introduction without what makes it large, such as icons and settings, and the memory that it then takes; throws if it is
 * far too large.
 */
export function toIntroduction({
  clientInfo,
  capabilities,
}: Introduction): Introduction & { readonly bytes: number } {
  const bytes = weighIntroduction('initialize', clientInfo, capabilities)
  if (bytes <= KEPT_INTRODUCTION) return { clientInfo, capabilities, bytes }
  const room = KEPT_INTRODUCTION / 2
  const name = clip(clientInfo.name, NAME_CHARS)
  const version = clip(clientInfo.version, NAME_CHARS)
  const kept = {
    clientInfo: { ...fitting(clientInfo as unknown as JsonObject, room / 2), name, version },
    capabilities: fitting(capabilities, room),
  }
  // Copied because part of a text keeps all of it in memory.
  return { ...asSent(kept), bytes: weigh(kept) }
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
