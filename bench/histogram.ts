/** Microseconds counted one by one; what took longer is kept as it is. */
const EXACT = 200_000

/** Every sample of a measurement, none dropped. */
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

  /** The smallest number of microseconds that a share of the samples did not exceed. */
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
