import type { AuthMethod } from '../transport/http/server/auth-method.ts'
import { openAuthentication } from './authentication.ts'

/** Creates a method. It brings the code that all methods share, so that servers without authorization do not load it. */
export function createMethod(parts: Omit<AuthMethod, 'open'>): AuthMethod {
  const at = (url: string): AuthMethod => createMethod({ ...parts, resource: parts.resource && url })
  return { at, ...parts, open: openAuthentication }
}
