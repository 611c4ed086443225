import { mcpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methodRow } from '../protocol/methods.ts'
import type { Agreement } from './negotiate.ts'

/** Whether capabilities have one, as `tools` or `resources.subscribe`. */
export function has(capabilities: JsonObject, capability: string): boolean {
  let value: unknown = capabilities
  for (const step of capability.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false
    value = (value as JsonObject)[step]
  }
  return value !== undefined && value !== null && value !== false
}

/** Whether a server offers what a method needs. */
export function offers({ capabilities, revision }: Agreement, method: string): boolean {
  const capability = methodRow(method)?.capability
  // The first revision has completion without a capability for it.
  if (capability === undefined || (capability === 'completions' && revision === '2024-11-05')) return true
  return has(capabilities, capability)
}

/** Refuses a method that needs what the server did not declare. */
export function requireOffered(agreement: Agreement, method: string): void {
  if (!offers(agreement, method))
    throw mcpError('not_offered', { method, capability: methodRow(method)?.capability ?? '' })
}
