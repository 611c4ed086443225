import { isObject } from '../protocol/jsonrpc.ts'
import type { Auth } from '../rpc/call.ts'

/**
 * Identifies the account behind a caller, for shares of what is limited: its issuer and subject alone, since one account may have
 * any number of tokens, keys and client ids.
 */
export function accountOf(auth: Auth): string {
  const names = [auth['iss'] ?? auth['issuer'], auth.sub]
  // A token without a subject is that of a client, and a user may have the subject that it then gets.
  if (isObject(auth['claims']) && (auth['claims']['sub'] ?? undefined) === undefined) names.push('client')
  return JSON.stringify(names)
}
