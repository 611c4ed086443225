import type { McpError } from '../../../errors/error.ts'
import { isScope } from '../../../rpc/scopes.ts'
import type { Headers } from './parts.ts'

/** Clients and proxies reject long headers. All scopes are in the body. */
const MAX_SCOPES = 2048

/** Adds the headers of an error reply: the allowed methods, when to retry, or the scopes to ask for. */
export function withErrorHeaders(error: McpError, headers: Headers, allow: string): Headers {
  if (error.kind === 'bad_verb') return { ...headers, allow }
  if (error.kind === 'insufficient_scope') return { ...headers, 'www-authenticate': challengeOf(error) }
  if (error.retryAfterMs === undefined) return headers
  return { ...headers, 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
}

/** The challenge of RFC 6750, section 3.1, with the scopes that the request needs. Handlers may throw this error too. */
function challengeOf({ data }: McpError): string {
  const needed: unknown = data?.['scopes']
  let scopes = ''
  for (const scope of Array.isArray(needed) ? needed : [])
    if (isScope(scope) && scopes.length + scope.length < MAX_SCOPES)
      scopes += scopes === '' ? scope : ` ${scope}`
  return `Bearer error="insufficient_scope"${scopes === '' ? '' : `, scope="${scopes}"`}`
}
