import { createByteBuffer } from './byte-buffer.ts'
import type { LineReader, LineReaderOptions } from './lines.ts'

const HEAD_BYTES = 4
const BLANK = /^[\t-\r ]*$/

/**
 * Splits chunks of bytes into messages, each after its length in four bytes, big-endian. Blank messages are skipped, and
 * nothing of a message that is too large is buffered.
 */
export function createFrameReader(options: LineReaderOptions): LineReader {
  const { maxBytes } = options
  const buffer = createByteBuffer(maxBytes)
  /** The number of bytes of the length received so far, and their value. */
  let headBytes = 0
  let length = 0
  /** The number of bytes still to discard of a message that is too large. */
  let skipping = 0

  return {
    push,
    // An incomplete message is discarded.
    end: () => undefined,
    get buffered() {
      return buffer.length
    },
    get isInside() {
      return headBytes > 0 || skipping > 0
    },
    discard() {
      // Nothing is buffered while the length arrives.
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

  /** Reads one byte of the length; the message starts after the last. */
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

  /** The next byte starts a length. */
  function begin(): void {
    buffer.clear()
    headBytes = 0
    length = 0
  }
}
