import { clip } from '../../base/clip.ts'
import { mcpError } from '../../errors/error.ts'
import { BAD_ENVELOPE } from '../../errors/server.ts'
import { REVISION_UNSUPPORTED } from '../../errors/wire.ts'
import { isObject, type JsonObject } from '../../protocol/jsonrpc.ts'
import { META } from '../../protocol/meta.ts'
import type { Dialect, Dialects } from '../../protocol/switches.ts'

/** The versions that a request may name in its metadata. */
const CLAIMABLE: readonly string[] = ['2026-07-28']

/** The sender of a request, as its metadata describes it. */
export interface Envelope {
  readonly dialect: Dialect
  readonly client: { readonly name: string; readonly version: string } | undefined
  readonly capabilities: JsonObject
  readonly session: undefined
}

/** Whether params contain the metadata of this revision. */
export function hasEnvelope(params: JsonObject | null | undefined): boolean {
  const meta = params?.['_meta']
  return isObject(meta) && (META.protocolVersion in meta || META.clientCapabilities in meta)
}

/** The part of a server that reading metadata needs. */
export interface Served {
  readonly revisions: readonly string[]
  readonly dialects: Dialects
}

/** Reads the metadata of a request, for a server with certain revisions. */
export function decodeEnvelope(params: JsonObject, { revisions: served, dialects }: Served): Envelope {
  const meta = params['_meta'] as JsonObject
  const version = meta[META.protocolVersion]
  if (typeof version !== 'string')
    throw mcpError(BAD_ENVELOPE, { reason: `${META.protocolVersion} is not a string` })
  if (!CLAIMABLE.includes(version) || !served.includes(version)) throw unsupported(version, served)
  const capabilities = meta[META.clientCapabilities]
  if (!isObject(capabilities))
    throw mcpError(BAD_ENVELOPE, { reason: `${META.clientCapabilities} is missing` })
  const client = meta[META.clientInfo]
  if (client !== undefined && !isInfo(client)) {
    throw mcpError(BAD_ENVELOPE, { reason: `${META.clientInfo} needs a name and a version` })
  }
  return { dialect: dialects['2026-07-28'], client, capabilities, session: undefined }
}

/** The error for a version that requests may not name. */
function unsupported(version: string, served: readonly string[]): Error {
  const claimable = CLAIMABLE.filter((known) => served.includes(known))
  const requested = clip(version, 64)
  const data = { supported: claimable.length === 0 ? served : claimable, requested }
  return mcpError(REVISION_UNSUPPORTED, { version: requested }, { data })
}

function isInfo(value: unknown): value is { name: string; version: string } {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string'
}
