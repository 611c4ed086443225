import { mcpError, type McpError } from '../errors/error.ts'

/** The candidate most like a word, when one is like it at all. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > 128) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

/** Refuses an option that does not exist, naming the one that was probably meant; `elsewhere` knows other names for ours. */
export function checkOptions(
  where: string,
  given: unknown,
  allowed: readonly string[],
  elsewhere?: ReadonlyMap<string, string>,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const reason = `it takes an object with options, of these: ${allowed.join(', ')}`
    throw mcpError('bad_option', { where, reason })
  }
  for (const name of Object.keys(given)) {
    if (!allowed.includes(name)) throw unknown(where, 'option', name, allowed, elsewhere?.get(name))
  }
}

/** Refuses a word that is none of those that are known, naming the one that was probably meant. */
export function checkWord(where: string, what: string, word: string, known: readonly string[]): void {
  if (!known.includes(word)) throw unknown(where, what, String(word).slice(0, 64), known)
}

function unknown(
  where: string,
  what: string,
  word: string,
  known: readonly string[],
  other?: string,
): McpError {
  const meant = known.find((one) => one === other) ?? nearest(word, known)
  const remedy = meant === undefined ? `the ${what}s are ${known.join(', ')}` : `did you mean "${meant}"?`
  return mcpError('bad_option', { where, reason: `there is no ${what} "${word}"; ${remedy}` })
}

/** Levenshtein distance in which a swap of neighbours counts once. */
function distance(a: string, b: string): number {
  let [older, previous] = [
    new Uint16Array(b.length + 1),
    Uint16Array.from({ length: b.length + 1 }, (_, i) => i),
  ]
  for (let i = 1; i <= a.length; i++) {
    const row = new Uint16Array(b.length + 1)
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let steps = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + same)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, older[j - 2]! + 1)
      row[j] = steps
    }
    ;[older, previous] = [previous, row]
  }
  return previous[b.length]!
}
