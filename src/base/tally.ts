/** Sums by key, such as the bytes of each caller. A key whose sum is zero takes no memory. */
export class Tally extends Map<unknown, number> {
  override get(key: unknown): number {
    return super.get(key) ?? 0
  }

  /** Adds a number, which may be negative. */
  add(key: unknown, number: number): void {
    const sum = this.get(key) + number
    if (sum > 0) this.set(key, sum)
    else this.delete(key)
  }
}
