import { McpError } from '../errors/error.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { Peer } from '../rpc/call.ts'

/** Whether a client may use an extension: it must have declared it in the place that its revision has for that. */
export function isFor(peer: Peer, id: string): boolean {
  if (peer.dialect.extensions === 'open') return true
  const { extensions, experimental } = peer.capabilities
  return has(extensions, id) || has(experimental, id) || lists(experimental, id)
}

/** The error for a client that did not declare an extension: as if the method did not exist, with the declaration it needs. */
export function requireDeclared(peer: Peer, id: string, method: string): void {
  if (isFor(peer, id)) return
  const place = peer.session === undefined ? 'extensions' : 'experimental'
  const message = `the method "${method}" is part of the extension ${id}, which this client did not declare; declare capabilities.${place}["${id}"], as connect(target, { extensions: [ … ] }) does`
  const data = { requiredCapabilities: { [place]: { [id]: {} } } }
  throw new McpError('unknown_method', message, { data })
}

/** Whether declarations list the extension as a feature, as some clients do. */
function lists(declared: unknown, id: string): boolean {
  const features = (declared as { readonly features?: unknown } | null | undefined)?.features
  return Array.isArray(features) && features.includes(id)
}

/** Whether a map of declarations contains the extension. The map is untrusted. */
export function has(declared: unknown, id: string): boolean {
  if (typeof declared !== 'object' || declared === null || !Object.hasOwn(declared, id)) return false
  return isObject((declared as JsonObject)[id])
}
