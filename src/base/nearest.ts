/** The most steps of one search, about 50 microseconds: any peer may send wrong names. */
const MAX_STEPS = 10_000
/** What a candidate costs even if it is not compared, so there are at most 1000. */
const CANDIDATE_STEPS = 10

/**
 * The candidate most similar to a word, if any is similar enough and found within the limit. Names of one letter are similar only to
 * themselves. `work` counts the steps.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  work: { steps: number } = { steps: 0 },
): string | undefined {
  if (word.length > 128) return undefined
  let best: string | undefined
  let least = word.length < 2 ? 1 : Math.max(1, Math.floor(word.length / 3)) + 1
  let pattern: Pattern | undefined
  for (const candidate of candidates) {
    work.steps += CANDIDATE_STEPS
    if (work.steps > MAX_STEPS) break
    if (Math.abs(candidate.length - word.length) >= least || (candidate.length < 2 && word.length > 1))
      continue
    pattern ??= toPattern(word)
    const steps = distance(pattern, candidate, least, work)
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

/** A word to compare others with, where capitals do not count. */
interface Pattern {
  readonly length: number
  /** How many numbers of 32 bits it takes to have one for each letter. */
  readonly blocks: number
  /** The number of each letter of the word, from 1, for ASCII and for the others. */
  readonly ascii: Uint8Array
  readonly others: ReadonlyMap<number, number>
  /** Where each letter is, as bits in blocks. The letter 0 is nowhere. */
  readonly masks: Int32Array
  /** The state of a comparison: four numbers for each block. */
  readonly column: Int32Array
}

function toPattern(word: string): Pattern {
  const blocks = Math.max(1, Math.ceil(word.length / 32))
  const ascii = new Uint8Array(128)
  const others = new Map<number, number>()
  const masks = new Int32Array((word.length + 1) * blocks)
  let letters = 0
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    const letter = (code < 128 ? ascii[code] : others.get(code)) || ++letters
    for (const same of alike(word.charAt(at))) {
      if (same < 128) ascii[same] = letter
      else others.set(same, letter)
    }
    const block = letter * blocks + (at >> 5)
    masks[block] = (masks[block] as number) | (1 << (at & 31))
  }
  return { length: word.length, blocks, ascii, others, masks, column: new Int32Array(4 * blocks) }
}

/** The codes of a letter and of its capital. */
function alike(letter: string): number[] {
  const all = [letter, letter.toLowerCase(), letter.toUpperCase()]
  return all.filter((one) => one.length === 1).map((one) => one.charCodeAt(0))
}

/**
 * Levenshtein distance that counts swapped neighbours once. It is exact below `limit`; otherwise the result is `limit` or more. Each
 * column of the table of distances consists of bits that say where it grows and shrinks, so one step deals with 32 letters of the pattern
 * (Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003).
 */
function distance(pattern: Pattern, other: string, limit: number, work: { steps: number }): number {
  const { length, blocks, ascii, others, masks, column } = pattern
  for (let at = 0; at < column.length; at++) column[at] = (at & 3) === 0 ? -1 : 0
  const last = (length - 1) & 31
  let steps = length
  let at = 0
  // Each of the letters that are left brings them closer by at most one.
  while (at < other.length && steps - (other.length - at) < limit) {
    const code = other.charCodeAt(at++)
    const letter = code < 128 ? (ascii[code] as number) : (others.get(code) ?? 0)
    let growsBefore = 1
    let shrinksBefore = 0
    let newBefore = 0
    for (let block = 0; block < blocks; block++) {
      const from = block * 4
      const up = column[from] as number
      const down = column[from + 1] as number
      const mask = masks[letter * blocks + block] as number
      const isNew = ~(column[from + 2] as number) & mask
      const swapped = ((isNew << 1) | newBefore) & (column[from + 3] as number)
      newBefore = isNew >>> 31
      const found = mask | shrinksBefore
      const level = ((((found & up) + up) | 0) ^ up) | found | down | swapped
      let grows = down | ~(level | up)
      let shrinks = level & up
      if (block === blocks - 1) steps += ((grows >>> last) & 1) - ((shrinks >>> last) & 1)
      const growsAfter = grows >>> 31
      const shrinksAfter = shrinks >>> 31
      grows = (grows << 1) | growsBefore
      shrinks = (shrinks << 1) | shrinksBefore
      growsBefore = growsAfter
      shrinksBefore = shrinksAfter
      column[from] = shrinks | ~(level | grows)
      column[from + 1] = grows & level
      column[from + 2] = level
      column[from + 3] = mask
    }
  }
  work.steps += at * blocks
  return at < other.length ? limit : steps
}
