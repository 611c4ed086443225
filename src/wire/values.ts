import { mcpError } from '../errors/error.ts'
import { TOO_MANY_CONTAINERS, TOO_MANY_KEYS, TOO_MANY_VALUES } from '../errors/wire.ts'
import type { ContentLimits } from '../protocol/client-limits.ts'
import { NameFilter } from './name-filter.ts'
import { endOfString, skipSpace } from './skip.ts'

/** The limits on how many parts a message has. */
export type PartLimits = Pick<ContentLimits, 'values' | 'keys' | 'containers'>

/**
 * Throws when a text has too many JSON values, too many of them are objects or lists, or its objects have too many members. Parsed
 * values can take thirty times the memory of their text, members the time of several values, and a schema may look for many
 * members in each object, so the size of a message does not limit them.
 */
export function checkValues(text: string, limits: PartLimits): void {
  const excess = findExcess(text, limits)
  if (excess === undefined) return
  const { values, keys, containers } = limits
  if (excess === 'values') throw mcpError(TOO_MANY_VALUES, { limit: values })
  if (excess === 'containers') throw mcpError(TOO_MANY_CONTAINERS, { limit: containers })
  const why = `, counting names over ${LONG_NAME} characters as ${MEMBERS_PER_LONG_NAME}, numbers as ${MEMBERS_PER_INDEX}, those after the first ${WIDE} of an object as ${MEMBERS_PER_WIDE}, and names beyond ${MANY_NAMES} different ones, among the first ${FEW} of an object, as ${MEMBERS_PER_NEW_NAME}`
  throw mcpError(TOO_MANY_KEYS, { limit: keys, counted: excess === 'keys' ? '' : why })
}

/** Whether a text has more parts than allowed. In invalid JSON, at least those before the first error are counted. */
export function hasTooMany(text: string, limits: PartLimits): boolean {
  return findExcess(text, limits) !== undefined
}

const QUOTE = 34
const COMMA = 44
const ZERO = 48
const COLON = 58
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** After this many characters that count nothing, searching is cheaper: it costs more to start and less per character. */
const WALK = 32
const NEXT = /["[\]{},:]/g

/** The engine compares names longer than this one by one, as if all hashes were the same, so each counts as many. */
const LONG_NAME = 16_383
const MEMBERS_PER_LONG_NAME = 1000

/** Engines keep the members whose names are whole numbers below 2^32 in a table of their own, and sort it whenever they read the names. */
const INDEX = /(?!0\d)(?:\d|\\u003\d){1,10}"/y
const MEMBERS_PER_INDEX = 10
/** The characters of such a member where many are costly: numbers with fewer digits are close to each other, and the engine keeps these in a list. */
const INDEX_CHARS = 12

/** Whoever reads an object with very many members takes longer for each, so those after this many count as several. */
const WIDE = 10_000
const MEMBERS_PER_WIDE = 4

/**
 * Engines make a hidden class for each new name of an object that has few members so far, which takes several times the memory and time of
 * a member. So after this many names that differ, new ones count as several.
 */
const MANY_NAMES = 10_000
const FEW = 128
const MEMBERS_PER_NEW_NAME = 4

/**
 * The first limit that a text exceeds. Members are counted by their colons; values by their commas, the outermost value, and the
 * first item of each object or list that is not empty.
 */
function findExcess(
  text: string,
  { values, keys, containers }: PartLimits,
): 'values' | 'keys' | 'costly keys' | 'containers' | undefined {
  const { length } = text
  // A value takes at least two characters, itself and what separates it from the next, and a container two. A member takes more for each that it counts as.
  if (length < 2 * values && length * MEMBERS_PER_INDEX <= INDEX_CHARS * keys && length <= 2 * containers)
    return undefined
  let counted = 1
  let members = 0
  let added = 0
  let opened = 0
  let name = 0
  let nameEnd = 0
  let walked = 0
  /** The members of the object being read, and of those around it. */
  let own = 0
  const around: number[] = []
  const names = new NameFilter()
  let newNames = 0
  for (let at = 0; at < length; at++) {
    if (++walked > WALK) {
      NEXT.lastIndex = at
      if (!NEXT.test(text)) break
      at = NEXT.lastIndex - 1
      walked = 0
    }
    const letter = text.charCodeAt(at)
    if (letter === COMMA) {
      counted++
      walked = 0
    } else if (letter === QUOTE) {
      name = at + 1
      at = nameEnd = endOfString(text, name)
      walked = 0
      continue
    } else if (letter === COLON) {
      members++
      if (nameEnd - name > LONG_NAME) added += MEMBERS_PER_LONG_NAME - 1
      else if (isIndex(text, name)) added += MEMBERS_PER_INDEX - 1
      else if (++own > WIDE) added += MEMBERS_PER_WIDE - 1
      else if (own <= FEW && names.add(text, name, nameEnd) && ++newNames > MANY_NAMES)
        added += MEMBERS_PER_NEW_NAME - 1
      walked = 0
      if (members > keys) return 'keys'
      if (members + added > keys) return 'costly keys'
      continue
    } else if (letter === OPEN_LIST || letter === OPEN_OBJECT) {
      if (++opened > containers) return 'containers'
      const next = text.charCodeAt(skipSpace(text, at + 1))
      if (next !== CLOSE_LIST && next !== CLOSE_OBJECT) counted++
      walked = 0
      around.push(own)
      own = 0
    } else if (letter === CLOSE_LIST || letter === CLOSE_OBJECT) {
      own = around.pop() ?? 0
      walked = 0
      continue
    } else continue
    if (counted > values) return 'values'
  }
  return counted > values ? 'values' : undefined
}

/** Whether the name at `at` is a whole number that may be an index. Its digits may be escaped. */
function isIndex(text: string, at: number): boolean {
  const first = text.charCodeAt(at)
  if (first !== BACKSLASH && (first < ZERO || first >= COLON)) return false
  INDEX.lastIndex = at
  return INDEX.test(text)
}
