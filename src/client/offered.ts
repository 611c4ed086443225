import { mcpError } from '../errors/error.ts'
import { NOT_OFFERED } from '../errors/rpc.ts'
import { markReceived } from '../errors/where.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Agreement } from './negotiate.ts'

/** Whether a capability is declared, such as `tools` or `resources.subscribe`. */
export function has(capabilities: JsonObject, capability: string): boolean {
  const dot = capability.indexOf('.')
  const name = dot < 0 ? capability : capability.slice(0, dot)
  const value = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
  if (dot < 0) return value !== undefined && value !== null && value !== false
  return typeof value === 'object' && value !== null && has(value as JsonObject, capability.slice(dot + 1))
}

/** Whether a server offers the capability that a method needs. */
export function offers({ capabilities, revision }: Agreement, method: string): boolean {
  const capability = methodRow(method)?.capability
  // The first revision has completion without a capability for it.
  if (capability === undefined || (capability === 'completions' && revision === '2024-11-05')) return true
  return has(capabilities, capability)
}

/** Rejects a method that needs a capability the server did not declare. */
export function requireOffered(agreement: Agreement, method: string): void {
  if (!offers(agreement, method))
    throw markReceived(mcpError(NOT_OFFERED, { method, capability: methodRow(method)?.capability ?? '' }))
}
