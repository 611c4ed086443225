import { createByteBuffer } from './byte-buffer.ts'
import type { LineReader, LineReaderOptions } from './lines.ts'

const HEAD_BYTES = 4
const BLANK = /^[\t-\r ]*$/

/**
 * Splits bytes into messages that each follow their length, four bytes with the highest first, however the bytes are
 * cut. Blank messages are left out, and of one that is too large nothing is held.
 */
export function createFrameReader(options: LineReaderOptions): LineReader {
  const { maxBytes } = options
  const buffer = createByteBuffer(maxBytes)
  /** How many bytes of the length have come, and what they say so far. */
  let headBytes = 0
  let length = 0
  /** How many bytes of a message that is discarded are still to come. */
  let skipping = 0

  return {
    push,
    // A message that breaks off is none.
    end: () => undefined,
    get buffered() {
      return buffer.length
    },
    get isInside() {
      return headBytes > 0 || skipping > 0
    },
    discard() {
      // While the length comes, nothing is held.
      if (headBytes < HEAD_BYTES) return
      skipping = length - buffer.length
      begin()
    },
  }

  function push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (skipping > 0) {
        const skipped = Math.min(skipping, chunk.length - at)
        skipping -= skipped
        at += skipped
      } else if (headBytes < HEAD_BYTES) takeHead(chunk[at++]!, chunk.subarray(at))
      else at += takeBody(chunk.subarray(at))
    }
  }

  /** Takes one byte of the length; what has come after it is the beginning of the message. */
  function takeHead(byte: number, rest: Uint8Array): void {
    length = length * 256 + byte
    headBytes++
    if (headBytes < HEAD_BYTES) return
    if (length === 0) return begin()
    if (length <= maxBytes) return
    skipping = length
    begin()
    options.onOversize(rest.subarray(0, skipping))
  }

  function takeBody(bytes: Uint8Array): number {
    const missing = length - buffer.length
    if (bytes.length < missing) {
      buffer.append(bytes)
      return bytes.length
    }
    const rest = bytes.subarray(0, missing)
    if (buffer.length === 0) deliver(rest)
    else {
      buffer.append(rest)
      deliver(buffer.view())
    }
    return missing
  }

  function deliver(bytes: Uint8Array): void {
    const text = options.decode(bytes)
    begin()
    if (text === undefined) options.onBadEncoding(bytes)
    else if (!BLANK.test(text)) options.onLine(text)
  }

  /** The next byte begins a length. */
  function begin(): void {
    buffer.clear()
    headBytes = 0
    length = 0
  }
}
