/** The candidate most similar to a word, if any is similar enough. */
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

/** Levenshtein distance that counts swapped neighbours once. */
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
