/** The characters in which the host of a URL must have ended; names of hosts have at most 253. */
const MAX_START = 320
/**
 * URLs whose host ends, or that have none, and those of other schemes than http, https, ws, wss, ftp and file: only these have hosts that
 * take time. Parsers remove tabs, line ends and leading spaces.
 */
const ENDS =
  /^[?#/](?![/\\\0- ])|^(?!(?:http|ws)s?:|ftp:|file:[/\\]{0,2}(?![/\\]))[a-z][\w+.-]*:|^(?:[\w+.-]+:[/\\]*|[/\\]+|(?![^/\\?#]*:))[^/\\?#\0- ]+[/\\?#]/i

/**
 * Whether a text is a URL. One with a very long host is not: the time to parse a host that is not ASCII grows with the square of its
 * length.
 */
export function isUrl(text: string, base?: string): boolean {
  return URL.canParse(bounded(text), base)
}

/** Parses a URL. Throws a TypeError unless `isUrl`. All other modules use this instead of `new URL`. */
export function parseUrl(text: string | URL, base?: string | URL): URL {
  return new URL(bounded(String(text)), base)
}

/** The text, or one that is not a URL. */
function bounded(text: string): string {
  return text.length <= MAX_START || ENDS.test(text.slice(0, MAX_START)) ? text : 'https://'
}
