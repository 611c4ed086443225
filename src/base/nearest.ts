/** The most steps of one search, about a millisecond: any peer may send wrong names. */
const MAX_STEPS = 50_000

/** The candidate most similar to a word, if any is similar enough and found within the limit. `work` counts the steps. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  work: { steps: number } = { steps: 0 },
): string | undefined {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    // Candidates count even if they are not compared, so there are at most 1000.
    work.steps += 50
    if (word.length > 128 || work.steps > MAX_STEPS) break
    if (Math.abs(candidate.length - word.length) >= least) continue
    const steps = distance(word.toLowerCase(), candidate.toLowerCase(), least, work)
    if (steps < least) [best, least] = [candidate, steps]
  }
  return best
}

/** Levenshtein distance that counts swapped neighbours once; not exact, but not below `limit`, if it is not below that. */
function distance(a: string, b: string, limit: number, work: { steps: number }): number {
  // Cells outside a band along the diagonal keep this value.
  const newRow = (): Uint16Array<ArrayBuffer> => new Uint16Array(b.length + 1).fill(limit)
  let older = newRow()
  let previous = newRow().map((_, j) => j)
  let row = newRow()
  for (let i = 1; i <= a.length; i++) {
    const x = a.charCodeAt(i - 1)
    let j = Math.max(1, i - limit + 1)
    let lowest = (row[j - 1] = j > 1 ? limit : i)
    for (; j <= b.length && j < i + limit; j++) {
      const y = b.charCodeAt(j - 1)
      let steps = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (x === y ? 0 : 1))
      if (i > 1 && j > 1 && x === b.charCodeAt(j - 2) && y === a.charCodeAt(i - 2))
        steps = Math.min(steps, older[j - 2]! + 1)
      row[j] = steps
      lowest = Math.min(lowest, steps)
      work.steps++
    }
    if (lowest >= limit) return limit
    ;[older, previous, row] = [previous, row, older]
  }
  return previous[b.length]!
}
