import { mcpError } from '../errors/error.ts'
import { ALREADY_INITIALIZED, BAD_CAPABILITIES, VERSION_REJECTED } from '../errors/server.ts'
import { BAD_PARAMS, REVISION_UNSUPPORTED } from '../errors/wire.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { Dialect, Dialects } from '../protocol/switches.ts'
import type { ClientInfo } from '../rpc/call.ts'
import type { Result } from '../rpc/dispatch.ts'
import type { Session } from '../rpc/session.ts'
import { asSent } from '../base/as-sent.ts'
import { clip } from '../base/clip.ts'
import { callOf, partsOf, type Context } from './context.ts'
import { holderOf } from './held-bytes.ts'
import { toIntroduction, type Introduction } from './introduction.ts'

/** The description of a server that connecting clients receive. */
export interface Greeting {
  readonly info: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  readonly ttlMs: number
  readonly revisions: readonly Revision[]
  readonly dialects: Dialects
}

/** `initialize`: negotiates the revision and records the client in the session; with `wrapped`, middleware may change the result. */
export function initialize(
  greeting: Greeting,
  follow: (session: Session, offered: JsonObject) => void,
  wrapped: boolean,
  context: Context,
): Result {
  const session = callOf(context).peer.session as Session
  if (session.opened) throw mcpError(ALREADY_INITIALIZED, {})
  const withHandshake = openedBy('handshake', greeting)
  const opening = readOpening(context.params, withHandshake)
  const { protocolVersion } = opening
  const version = clip(protocolVersion, 64)
  const requested = withHandshake.find((known) => known === protocolVersion)
  if (requested === undefined && session.dialect.versionMismatch === 'reject') {
    const data = { supported: withHandshake, requested: version }
    throw mcpError(VERSION_REJECTED, { version }, { data })
  }
  const revision = requested ?? withHandshake.at(-1)
  if (revision === undefined) {
    const data = { supported: greeting.revisions, requested: version }
    throw mcpError(REVISION_UNSUPPORTED, { version }, { data })
  }
  const { held } = partsOf(context)
  const holder = holderOf(callOf(context))
  const { clientInfo, capabilities, bytes } = toIntroduction(opening)
  held.take(holder, bytes)
  session.onClose(() => held.free(holder, bytes))
  session.dialect = greeting.dialects[revision]
  session.client = clientInfo
  session.capabilities = capabilities
  session.opened = true
  const { info, instructions } = greeting
  const optional = instructions === undefined ? {} : { instructions }
  const offered = session.reachable ? greeting.capabilities : withoutChanges(greeting.capabilities)
  follow(session, offered)
  const result = { protocolVersion: revision, capabilities: offered, serverInfo: info, ...optional }
  return wrapped ? asSent(result) : result
}

/** The capabilities for a client that cannot receive notifications of changes. */
function withoutChanges(capabilities: JsonObject): JsonObject {
  // Callers without a session share no list of tasks.
  const tasks = { cancel: {}, requests: { tools: { call: {} } } }
  const still = { tools: {}, resources: {}, prompts: {}, tasks }
  const kept = Object.entries(still).filter(([name]) => name in capabilities)
  return { ...capabilities, ...Object.fromEntries(kept) }
}

/** `server/discover`: the versions that requests may name, and the capabilities; with `wrapped`, middleware may change the result per caller. */
export function discover(greeting: Greeting, wrapped: boolean): Result {
  const { capabilities, instructions, ttlMs } = greeting
  const optional = instructions === undefined ? {} : { instructions }
  return {
    supportedVersions: openedBy('request', greeting),
    capabilities: wrapped ? asSent(capabilities) : capabilities,
    ...optional,
    ttlMs,
    cacheScope: wrapped ? 'private' : 'public',
  }
}

export function ping(): Result {
  return {}
}

function openedBy(opening: Dialect['opening'], { revisions, dialects }: Greeting): readonly Revision[] {
  return revisions.filter((revision) => dialects[revision].opening === opening)
}

function readOpening(
  params: JsonObject,
  supported: readonly Revision[],
): Introduction & { readonly protocolVersion: string } {
  const { protocolVersion, capabilities, clientInfo } = params
  if (typeof protocolVersion !== 'string') {
    const requested = typeof protocolVersion === 'object' ? null : (protocolVersion ?? null)
    const data = { supported, requested }
    throw invalid('protocolVersion is not a string', data)
  }
  if (!isObject(capabilities)) throw mcpError(BAD_CAPABILITIES, { reason: 'capabilities is not an object' })
  if (
    !isObject(clientInfo) ||
    typeof clientInfo['name'] !== 'string' ||
    typeof clientInfo['version'] !== 'string'
  ) {
    throw invalid('clientInfo needs a name and a version')
  }
  return { protocolVersion, capabilities, clientInfo: clientInfo as unknown as ClientInfo }
}

function invalid(reason: string, data?: JsonObject): Error {
  return mcpError(BAD_PARAMS, { method: 'initialize', reason }, data === undefined ? {} : { data })
}
