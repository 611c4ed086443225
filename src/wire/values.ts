import { mcpError } from '../errors/error.ts'
import { TOO_MANY_KEYS, TOO_MANY_VALUES } from '../errors/wire.ts'
import { endOfString, skipSpace } from './skip.ts'

/**
 * Throws when a text has more than `most` JSON values. Parsed values can take thirty times the memory of their text, so the
 * size of a message does not limit them.
 */
export function checkValues(text: string, most: number): void {
  if (exceedsValues(text, most)) throw mcpError(TOO_MANY_VALUES, { limit: most })
}

/** Throws when the objects of a text have more than `most` members in all, which take the longest to parse. The text need not be valid JSON. */
export function checkKeys(text: string, most: number): void {
  // A text never has more members than characters.
  if (text.length <= most) return
  let members = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    at = skipSpace(text, endOfString(text, at + 1) + 1)
    if (text.charCodeAt(at) === COLON && ++members > most) throw mcpError(TOO_MANY_KEYS, { limit: most })
  }
}

/** Whether a text has more than `most` JSON values. In invalid JSON, at least those before the first error are counted. */
export function exceedsValues(text: string, most: number): boolean {
  // A value takes at least two characters: itself and what separates it from the next.
  return text.length >= 2 * most && isMore(text, most)
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Counts the outermost value, the first item of each object or list that is not empty, and one more for each comma. */
function isMore(text: string, most: number): boolean {
  let count = 1
  for (let at = 0, { length } = text; at < length && count <= most; at++) {
    const letter = text.charCodeAt(at)
    if (letter === COMMA) count++
    else if (letter === QUOTE) at = endOfString(text, at + 1)
    else if (letter === OPEN_LIST || letter === OPEN_OBJECT) {
      const next = text.charCodeAt(skipSpace(text, at + 1))
      if (next !== CLOSE_LIST && next !== CLOSE_OBJECT) count++
    }
  }
  return count > most
}
