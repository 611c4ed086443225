/** The most steps of one search, about a millisecond: any peer may send wrong names. */
const MAX_STEPS = 50_000

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
  for (const candidate of candidates) {
    // Candidates count even if they are not compared, so there are at most 1000.
    work.steps += 50
    if (work.steps > MAX_STEPS) break
    if (Math.abs(candidate.length - word.length) >= least || (candidate.length < 2 && word.length > 1))
      continue
    const steps = distance(word.toLowerCase(), candidate.toLowerCase(), least, work)
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

/** Levenshtein distance that counts swapped neighbours once. It is exact below `limit`; otherwise the result is `limit` or more. */
function distance(a: string, b: string, limit: number, work: { steps: number }): number {
  // Only cells in a band along the diagonal can be below the limit; the others stay empty.
  const at = (row: readonly number[], j: number): number => row[j] ?? limit
  let older: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let lowest = limit
    for (let j = Math.max(1, i - limit); j <= b.length && j < i + limit; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let steps = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + same)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps = Math.min(steps, at(older, j - 2) + 1)
      lowest = Math.min(lowest, (row[j] = steps))
      work.steps++
    }
    if (lowest >= limit) return limit
    ;[older, previous] = [previous, row]
  }
  return at(previous, b.length)
}
