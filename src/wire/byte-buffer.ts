/** Collects the pieces of something that arrives in parts. Grows by doubling, so that many small parts cost no more than few. */
export interface ByteBuffer {
  readonly length: number
  append(bytes: Uint8Array): void
  /** What was collected; it is overwritten after the next `clear`. */
  view(): Uint8Array
  clear(): void
}

const SMALLEST = 1024
/** A larger buffer is given back when it is cleared. */
const KEPT = 65_536

export function createByteBuffer(maxBytes: number): ByteBuffer {
  let held = new Uint8Array(0)
  let length = 0

  return {
    get length() {
      return length
    },
    append(bytes) {
      const needed = length + bytes.length
      if (needed > held.length) held = grow(needed)
      held.set(bytes, length)
      length = needed
    },
    view: () => held.subarray(0, length),
    clear() {
      length = 0
      if (held.length > KEPT) held = new Uint8Array(0)
    },
  }

  function grow(needed: number): Uint8Array<ArrayBuffer> {
    const grown = new Uint8Array(Math.max(needed, Math.min(maxBytes, needed * 2), SMALLEST))
    grown.set(held.subarray(0, length))
    return grown
  }
}
