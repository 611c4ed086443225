// Repeated here because the engine inlines only constants of the same module.
const QUOTE = 34
const COMMA = 44
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** After this many characters without structure, searching is cheaper: it costs more to start and less per character. */
const WALK = 32
const STRUCTURE = /["[\]{}]/g

/** The first position at or after `at` that is not white space. */
export function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= 32) at++
  return at
}

/** The position of the quote that closes the string starting at `from`, or the end of the text. */
export function endOfString(text: string, from: number): number {
  const end = text.indexOf('"', from)
  if (end < 0) return text.length
  return text.charCodeAt(end - 1) === BACKSLASH ? endOfEscaped(text, from) : end
}

/** The same for a string with escapes. Walking costs far less than a search for each of many quotes. */
function endOfEscaped(text: string, from: number): number {
  const { length } = text
  for (let at = text.indexOf('\\', from); at < length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) return at
    if (letter === BACKSLASH) at++
  }
  return length
}

/** Reads the object at `at`, which may be nested `room` levels deep, and returns the position after it; negative to stop. */
export type ReadObject = (text: string, at: number, room: number) => number

/**
 * The position after the object or list opened at `at`; -1 if it is nested deeper than `room` levels, counting itself. With
 * `read`, that function reads the outermost objects and can stop with any negative number.
 */
export function endOfContainer(text: string, at: number, room: number, read?: ReadObject): number {
  let open = 0
  let walked = 0
  for (const { length } = text; at < length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === QUOTE) {
      at = endOfString(text, at + 1)
      walked = 0
    } else if (letter < OPEN_LIST) {
      if (++walked === WALK) at = nextStructure(text, at) - 1
    } else if (letter === OPEN_OBJECT && read !== undefined) {
      const end = read(text, at, room - open)
      if (end < 0 || open === 0) return end
      at = end - 1
      walked = 0
    } else if (letter === OPEN_OBJECT || letter === OPEN_LIST) {
      if (++open > room) return -1
      walked = 0
    } else if ((letter === CLOSE_OBJECT || letter === CLOSE_LIST) && --open === 0) return at + 1
  }
  return text.length
}

function nextStructure(text: string, at: number): number {
  STRUCTURE.lastIndex = at
  return STRUCTURE.test(text) ? STRUCTURE.lastIndex - 1 : text.length
}

/** The position after the number or word at `at`. */
export function endOfScalar(text: string, at: number): number {
  for (const { length } = text; at < length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === COMMA || letter === CLOSE_OBJECT || letter <= 32 || letter === CLOSE_LIST) return at
  }
  return text.length
}
