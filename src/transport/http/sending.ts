/** Bytes that wait for all clients to read. */
let total = 0

/** How many bytes wait for clients that read slowly, over all of them. */
export function unsentBytes(): number {
  return total
}

/** Counts the bytes that wait for one client. */
export class Sending {
  #size = 0

  /** So many wait now. */
  set(size: number): void {
    total += size - this.#size
    this.#size = size
  }
}
