/** The schemes whose hosts take time. */
const SCHEME = /^(?:https?|wss?|ftp|file):/i
/** What parsers of URLs, or libraries before them, remove. */
const SPACES = /[\s\0-\x20]+/g
/** The beginning of a text with enough characters for a scheme and its colon, whatever spaces are among them. */
const BEGINNING = /^(?:[\s\0-\x20]*[^\s\0-\x20]){1,6}/
const SLASHES = /[\s\0-\x20/\\／＼]*/y
const END_OF_HOST = /[/\\?#]/g

/**
 * The length of the host of a text that may be a URL, or become one when a library trims or normalises it; 0 if it is not. Some
 * libraries check addresses as hosts of URLs they make (`isAddress`): then all that follows an @ is a host.
 */
export function hostIn(text: string, isAddress = false): number {
  const begin = BEGINNING.exec(text)?.[0] ?? ''
  const letters = begin.replaceAll(SPACES, '')
  const scheme = SCHEME.exec(letters) ?? SCHEME.exec(letters.normalize('NFKC'))
  if (scheme === null) return isAddress && text.includes('@') ? hostFrom(text, text.lastIndexOf('@') + 1) : 0
  SLASHES.lastIndex = begin.length - lengthOfLast(begin, letters.length - scheme[0].length)
  SLASHES.exec(text)
  return hostFrom(text, SLASHES.lastIndex)
}

/** How many characters the last letters of a beginning take, with the spaces among them. */
function lengthOfLast(begin: string, letters: number): number {
  let at = begin.length
  for (let left = letters; left > 0; at--) if (begin[at - 1]!.trim() !== '' && begin[at - 1]! > ' ') left--
  return begin.length - at
}

function hostFrom(text: string, from: number): number {
  END_OF_HOST.lastIndex = from
  const end = END_OF_HOST.exec(text)?.index ?? text.length
  return end - from
}
