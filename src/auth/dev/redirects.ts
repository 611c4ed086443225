import { isLoopback } from '../../base/loopback.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** Schemes that browsers run or show as a page themselves. They cannot be those of an app. */
export const BROWSER_SCHEMES: ReadonlySet<string> = new Set([
  'about',
  'blob',
  'data',
  'file',
  'http',
  'javascript',
  'vbscript',
  'ws',
])

/** Says what is wrong with a URI that a client wants to be redirected to; undefined if nothing is. */
export function redirectFault(uri: string, schemes: readonly string[]): string | undefined {
  if (!isUrl(uri) || uri.length > 2_048) return 'is not a URL of at most 2,048 characters'
  const { protocol, hostname, username, password } = parseUrl(uri)
  if (uri.includes('#')) return 'has a fragment; remove the part from # on'
  if (username !== '' || password !== '') return 'contains a user name or a password; remove them'
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined
  if (protocol === 'http:') return 'uses http on a host that is not this computer; use https'
  const scheme = protocol.slice(0, -1)
  if (schemes.includes(scheme)) return undefined
  const remedy = 'use https, or http on 127.0.0.1'
  if (BROWSER_SCHEMES.has(scheme)) return `uses the scheme ${scheme}; ${remedy}`
  return `uses the scheme ${scheme}; ${remedy}, or allow it: devAuth({ redirectSchemes: ['${scheme}'] })`
}

const LOOPBACK = /^(http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]))(?::\d{1,5})?(?=[/?]|$)/

/** Whether a client that registered a URI may be redirected to another: only the port on this computer may differ. */
export function matchesRedirect(registered: string, asked: string): boolean {
  if (registered === asked) return true
  return isUrl(asked) && LOOPBACK.test(registered) && portless(registered) === portless(asked)
}

function portless(uri: string): string {
  return uri.replace(LOOPBACK, '$1')
}
