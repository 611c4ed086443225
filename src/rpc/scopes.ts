import type { Kind } from '../base/kinds.ts'

/** All scopes, or only these. */
export type Scopes = 'all' | readonly string[]

/** Whether a text is one OAuth scope: visible ASCII characters without quotes and backslashes (RFC 6749, section 3.3). */
export function isScope(text: unknown): text is string {
  return typeof text === 'string' && /^[!#-[\]-~]+$/.test(text)
}

/** The most scopes that are read from one text. */
const MAX_SCOPES = 1000

/** The scopes in a text from a server or an issuer, each once. What is not a scope is left out. */
export function readScopes(text: string): readonly string[] {
  return [...new Set(text.split(' '))].filter(isScope).slice(0, MAX_SCOPES)
}

/** Clients and proxies reject long headers. */
const MAX_CHARS = 2048

/** The scopes of a challenge as its parameter `scope` has them: what is not a scope, or no longer fits into a header, is left out. */
export function joinScopes(scopes: readonly unknown[]): string {
  let text = ''
  for (const scope of scopes)
    if (isScope(scope) && text.length + scope.length < MAX_CHARS) text += text === '' ? scope : ` ${scope}`
  return text
}

/** The challenge of RFC 6750, section 3.1, with the scopes that a request needs. */
export function scopeChallenge(scopes: readonly unknown[]): string {
  const text = joinScopes(scopes)
  return `Bearer error="insufficient_scope"${text === '' ? '' : `, scope="${text}"`}`
}

export const SCOPE: Kind<string> = {
  must: 'a scope: visible ASCII characters without spaces, quotes and backslashes',
  is: isScope,
  repeats: true,
}
