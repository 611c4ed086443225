/** The characters in which the host of a URL must have ended; names of hosts have at most 253. */
const MAX_START = 320
/** URLs whose host ends, or that have none: another scheme, a path, a query or a fragment. Parsers remove tabs, line ends and leading spaces. */
const ENDS =
  /^(?!(?:https?|wss?|ftp|file):)[a-z][a-z\d+.-]*:|^[?#]|^\/(?![/\\\t\n\r])|^(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]+)[^/\\?#\t\n\r]+[/\\?#]|^[^/\\?#:\0- ]+[/?#]/i

/**
 * Whether a text is a URL. One with a very long host is not: the time to parse a host that is not ASCII grows with the square of its
 * length.
 */
export function isUrl(text: string, base?: string): boolean {
  return isBounded(text) && URL.canParse(text, base)
}

/** Parses a URL. Throws a TypeError unless `isUrl`. All other modules use this instead of `new URL`. */
export function parseUrl(text: string | URL, base?: string | URL): URL {
  if (typeof text === 'string' && !isBounded(text)) throw new TypeError('the host of the URL is too long')
  return new URL(text, base)
}

function isBounded(text: string): boolean {
  return text.length <= MAX_START || ENDS.test(text.slice(0, MAX_START))
}
