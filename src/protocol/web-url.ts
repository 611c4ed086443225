import { isUrl, parseUrl } from './url.ts'

/** The most characters of a URL that a user is asked to open: browsers and servers take few longer ones, and nobody can read them. */
export const MAX_URL = 8192

/**
 * A URL of a server that a user may be asked to open, as a browser would show it; undefined unless it is http or https, not
 * too long and without credentials.
 */
export function toWebUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL) return undefined
  if (!/^https?:\/\//i.test(value) || !isUrl(value)) return undefined
  const { href, username, password } = parseUrl(value)
  // What looks like the host in `https://bank.example@evil.example` is a user name.
  return username === '' && password === '' ? href : undefined
}
