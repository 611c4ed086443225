import type { McpError } from '../../../errors/error.ts'
import { isScope } from '../../../rpc/scopes.ts'
import type { Headers } from './parts.ts'

/** Adds the headers of an error reply: the allowed methods, when to retry, or the scopes to ask for. */
export function withErrorHeaders(error: McpError, headers: Headers, allow: string): Headers {
  if (error.kind === 'bad_verb') return { ...headers, allow }
  if (error.kind === 'insufficient_scope') return { ...headers, 'www-authenticate': challengeOf(error) }
  if (error.retryAfterMs === undefined) return headers
  return { ...headers, 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
}

/** The challenge of RFC 6750, section 3.1, with all scopes that the request needs. Handlers may throw this error too. */
function challengeOf({ data }: McpError): string {
  const needed: unknown = data?.['scopes']
  const scopes = Array.isArray(needed) ? needed.filter(isScope) : []
  return `Bearer error="insufficient_scope"${scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`}`
}
