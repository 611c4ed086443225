import { mcpError } from '../errors/error.ts'
import { TOO_MANY_KEYS, TOO_MANY_VALUES } from '../errors/wire.ts'
import type { ContentLimits } from '../protocol/client-limits.ts'
import { endOfString, skipSpace } from './skip.ts'

/**
 * Throws when a text has too many JSON values, or its objects too many members. Parsed values can take thirty times the
 * memory of their text, and members the time of several values, so the size of a message does not limit them.
 */
export function checkValues(text: string, { values, keys }: Pick<ContentLimits, 'values' | 'keys'>): void {
  if (exceedsValues(text, values)) throw mcpError(TOO_MANY_VALUES, { limit: values })
  // A member takes at least four characters.
  if (text.length <= 4 * keys || !isMore(text, keys, COLON, MEMBERS_PER_LONG_NAME)) return
  const why = `, counting each name of more than ${LONG_NAME} characters as ${MEMBERS_PER_LONG_NAME}`
  throw mcpError(TOO_MANY_KEYS, { limit: keys, counted: isMore(text, keys, COLON) ? '' : why })
}

/** Whether a text has more than `most` JSON values. In invalid JSON, at least those before the first error are counted. */
export function exceedsValues(text: string, most: number): boolean {
  // A value takes at least two characters: itself and what separates it from the next.
  return text.length >= 2 * most && isMore(text, most, COMMA)
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** After this many characters that count nothing, searching is cheaper: it costs more to start and less per character. */
const WALK = 32
const NEXT = { [COMMA]: /["[{,]/g, [COLON]: /[":]/g } as const

/** The engine compares names longer than this one by one, as if all hashes were the same, so each counts as many. */
const LONG_NAME = 16_383
const MEMBERS_PER_LONG_NAME = 1000

/**
 * Counts members by their colons, each long name as `perLong` of them; values by their commas, the outermost value, and the first
 * item of each object or list that is not empty.
 */
function isMore(text: string, most: number, sign: typeof COMMA | typeof COLON, perLong = 1): boolean {
  let count = sign === COMMA ? 1 : 0
  let step = 1
  let walked = 0
  for (let at = 0, { length } = text; at < length && count <= most; at++) {
    if (++walked > WALK) {
      NEXT[sign].lastIndex = at
      if (!NEXT[sign].test(text)) break
      at = NEXT[sign].lastIndex - 1
      walked = 0
    }
    const letter = text.charCodeAt(at)
    if (letter === sign) {
      count += step
      walked = 0
    } else if (letter === QUOTE) {
      const end = endOfString(text, at + 1)
      step = end - at > LONG_NAME + 1 ? perLong : 1
      at = end
      walked = 0
    } else if (sign === COMMA && (letter === OPEN_LIST || letter === OPEN_OBJECT)) {
      const next = text.charCodeAt(skipSpace(text, at + 1))
      if (next !== CLOSE_LIST && next !== CLOSE_OBJECT) count++
    }
  }
  return count > most
}
