import type { McpError } from '../../../errors/error.ts'
import { scopeChallenge } from '../../../rpc/scopes.ts'
import type { Authentication } from './auth-method.ts'
import type { Headers } from './parts.ts'

export interface ErrorHeaderOptions {
  /** The allowed methods. */
  readonly allow: string
  /** Creates the challenge for missing scopes or a revoked token, if the server authenticates its callers. */
  readonly challenge?: Pick<Authentication, 'challenge'> | undefined
  /** The path that the client connected to, if it is not that of the endpoint. */
  readonly path?: string | undefined
}

/** Adds the headers of an error reply: the allowed methods, when to retry, or the scopes to ask for. */
export function withErrorHeaders(error: McpError, headers: Headers, options: ErrorHeaderOptions): Headers {
  const { allow, challenge, path } = options
  if (error.kind === 'bad_verb') return { ...headers, allow }
  if (error.kind === 'insufficient_scope')
    return {
      ...headers,
      ...(challenge?.challenge(error, path) ?? { 'www-authenticate': challengeOf(error) }),
    }
  if (error.kind === 'auth_rejected') return { ...headers, ...challenge?.challenge(error, path) }
  if (error.retryAfterMs === undefined) return headers
  return { ...headers, 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) }
}

/** The challenge for missing scopes. Handlers may throw this error too. */
function challengeOf({ data }: McpError): string {
  const needed: unknown = data?.['scopes']
  return scopeChallenge(Array.isArray(needed) ? needed : [])
}
