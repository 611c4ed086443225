import { mcpError } from '../errors/error.ts'
import { INSUFFICIENT_SCOPE } from '../errors/server.ts'
import type { Scopes } from '../rpc/scopes.ts'
import { callOf, partsOf, type Context } from './context.ts'
import type { Item } from './definitions.ts'

/** Throws unless the caller has every scope that an item needs. */
export function checkScopes(item: Item, needed: readonly string[], context: Context): void {
  const missing = missingScopes(item, needed, context)
  if (missing.length === 0) return
  const { key } = item
  const facts = { item: `"${key.slice(0, 512)}"`, scopes: needed.join(' '), missing: missing.join(' ') }
  throw mcpError(INSUFFICIENT_SCOPE, facts, { data: { scopes: needed } })
}

/** The scopes that an item needs and the caller lacks. */
export function missingScopes({ key }: Item, needed: readonly string[], context: Context): readonly string[] {
  const granted = grantedTo(context)
  const missing = granted === 'all' ? [] : needed.filter((scope) => !granted.includes(scope))
  if (missing.length > 0 && context.auth === undefined) partsOf(context).warnOfScopes(key)
  return missing
}

function grantedTo(context: Context): Scopes {
  const { auth, scopes } = callOf(context).source
  if (scopes !== undefined) return scopes
  // A framework may have set a string, in which every part of a name would be found. All scopes are for transports to grant.
  return Array.isArray(auth?.scopes) ? auth.scopes : []
}
