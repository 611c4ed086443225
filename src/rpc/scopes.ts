import type { Kind } from '../base/kinds.ts'

/** All scopes, or only these. */
export type Scopes = 'all' | readonly string[]

/** Whether a text is one OAuth scope: visible ASCII characters without quotes and backslashes (RFC 6749, section 3.3). */
export function isScope(text: unknown): text is string {
  return typeof text === 'string' && /^[!#-[\]-~]+$/.test(text)
}

export const SCOPE: Kind<string> = {
  must: 'a scope: visible ASCII characters without spaces, quotes and backslashes',
  is: isScope,
  repeats: true,
}
