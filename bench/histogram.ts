/** Below this many microseconds samples are counted in buckets; longer ones are kept individually. */
const EXACT = 200_000

/** Records every sample of a measurement. */
export class Histogram {
  readonly #counts = new Uint32Array(EXACT)
  readonly #long: number[] = []
  #total = 0

  add(milliseconds: number): void {
    const micros = Math.round(milliseconds * 1000)
    if (micros < EXACT) this.#counts[micros] = (this.#counts[micros] ?? 0) + 1
    else this.#long.push(micros)
    this.#total++
  }

  /** The smallest number of microseconds that the given share of the samples does not exceed. */
  percentile(share: number): number {
    const wanted = Math.ceil(this.#total * share)
    let seen = 0
    for (let micros = 0; micros < EXACT; micros++) {
      seen += this.#counts[micros] ?? 0
      if (seen >= wanted) return micros
    }
    return this.#long.toSorted((left, right) => left - right)[wanted - seen - 1] ?? 0
  }
}
