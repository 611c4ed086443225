import { isUrl, parseUrl } from '../../protocol/url.ts'

/** The longest URL of a server that becomes a part of a key of the vault. */
const MAX_CHARS = 2048

/** Whether a text is a URL in its normal form, which has visible ASCII characters only; a final slash after the host may be left out. */
export function isCanonical(text: string): boolean {
  if (text.length > MAX_CHARS || !isUrl(text)) return false
  const { href } = parseUrl(text)
  return href === text || href === `${text}/`
}

/** The normal form of a URL that differs from it at most in the case of scheme and host; undefined for others. */
export function toCanonical(text: string): string | undefined {
  const lower = text.replace(/^https?:\/\/[^/?#\\\s]*/i, (start) => start.toLowerCase())
  return isCanonical(lower) ? lower : undefined
}

/** The name of a server that publishes none, as a resource (RFC 8707). The query is left out, since it may hold a secret. */
export function canonicalOf({ origin, pathname }: URL): string {
  return pathname === '/' ? origin : origin + pathname
}
