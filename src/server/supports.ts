import { CLIENT_CAPABILITIES, type CapabilityRow } from '../protocol/capabilities.ts'
import { mcpError } from '../errors/error.ts'
import { CANNOT_ASK, MISSING_CAPABILITY } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Peer } from '../rpc/call.ts'

/** The questions that a client may support. */
export type ClientFeature =
  | 'roots'
  | 'sampling'
  | 'sampling.tools'
  | 'sampling.context'
  | 'elicitation'
  | 'elicitation.form'
  | 'elicitation.url'

/** Whether a client declared a feature that its revision has. An elicitation capability without modes means forms; `enabled: false` means not supported. */
export function supports({ capabilities, dialect }: Peer, feature: ClientFeature): boolean {
  const [name, part] = feature.split('.') as [keyof typeof CLIENT_CAPABILITIES, string | undefined]
  const { since, flags }: CapabilityRow = CLIENT_CAPABILITIES[name]
  const declared = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
  if (dialect.revision < since || typeof declared !== 'object' || declared === null) return false
  const parts = declared as JsonObject
  if (parts['enabled'] === false) return false
  if (feature === 'elicitation.form') return 'form' in parts || !('url' in parts)
  if (part === undefined) return true
  return (
    dialect.revision >= flags![part]!.since && Object.hasOwn(parts, part) && typeof parts[part] === 'object'
  )
}

/** Throws if the client did not declare a feature. */
export function requireFeature(peer: Peer, feature: ClientFeature): void {
  if (supports(peer, feature)) return
  if (peer.dialect.revision < '2026-07-28') {
    throw mcpError(CANNOT_ASK, {
      capability: feature,
      reason: 'it did not declare this capability, or its revision does not have it',
    })
  }
  const [name, part] = feature.split('.') as [string, string | undefined]
  const requiredCapabilities = { [name]: part === undefined ? {} : { [part]: {} } }
  throw mcpError(MISSING_CAPABILITY, { capability: feature }, { data: { requiredCapabilities } })
}
