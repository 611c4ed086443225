/** Characters that may be, or become, letters of a host that are not ASCII. Only those take the square of its length. */
const MAY_BE_SLOW = /[^\0-\x7f]|%|xn--|\\u/i
/** No host contains them, whatever the text around it; a backslash is none of them in texts with escapes. */
const END_OF_HOST = /[/\\?#"]/
const END_OR_ESCAPE = /[/?#"]/

/** Combining marks, and characters that become marks when a text is normalised. */
const MARK = /[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u
/** No mark is below. */
const FIRST_MARK = 0x300
/** Every so many characters are looked at to find runs of marks, and shorter runs do not count. */
const MARK_STEP = 32
/** The most marks in a row that writing systems need. */
const FEW_MARKS = 8
/** The parts of a text that are as long as a usual host do not count. */
const USUAL_HOST = 32

/**
 * The pairs of characters that a parser of URLs may compare, which takes about a nanosecond for each. It does not matter where a library looks
 * for a host, or in what it embeds the text: a host is somewhere between two ends.
 */
export function pairsOfHosts(text: string): number {
  if (!MAY_BE_SLOW.test(text)) return 0
  let pairs = 0
  for (const { length } of text.split(text.includes('\\u') ? END_OR_ESCAPE : END_OF_HOST))
    if (length > USUAL_HOST) pairs += length * length
  return pairs
}

/** The pairs of marks that are compared to sort them when a text is normalised, which takes about half a nanosecond for each. */
export function pairsOfMarks(text: string): number {
  let pairs = 0
  for (let at = MARK_STEP; at < text.length; at += MARK_STEP) {
    // Both halves of a character beyond 16 bits are above.
    if (text.charCodeAt(at) < FIRST_MARK || !MARK.test(text.slice(at - 1, at + 2))) continue
    let end = at + 1
    while (end < text.length && isMark(text, end)) end++
    const run = end - at
    if (run > FEW_MARKS) pairs += (run + MARK_STEP) ** 2
    at += run - (run % MARK_STEP)
  }
  return pairs
}

/** Whether a character, or half of one, is a mark. */
function isMark(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < FIRST_MARK) return false
  const isSecondHalf = code >= 0xdc00 && code < 0xe000
  return MARK.test(isSecondHalf ? text.slice(at - 1, at + 1) : text.slice(at, at + 2))
}
