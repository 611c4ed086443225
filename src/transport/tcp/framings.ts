import { Buffer } from 'node:buffer'
import { createFrameReader } from '../../wire/frames.ts'
import { LINES, type Framing } from '../lines/framing.ts'
import type { FramingName } from '../lines/framing-name.ts'

/** Each message is preceded by its length in four bytes. */
const LENGTH_PREFIX: Framing = {
  createReader: createFrameReader,
  encode(text) {
    const head = Buffer.allocUnsafe(4)
    head.writeUInt32BE(Buffer.byteLength(text))
    return head.toString('latin1') + Buffer.from(text).toString('latin1')
  },
  encoding: 'latin1',
  emptyFrame: '\0\0\0\0',
}

/** The framing that an option names. */
export function framingOf(name: FramingName = 'lines'): Framing {
  return name === 'lines' ? LINES : LENGTH_PREFIX
}

/** Messages never start with a lower byte than this, and length prefixes always do. */
const LEAST_CHAR = 9

/** Why the first byte from the other side does not fit the framing; undefined if it does. */
export function mismatchOf(framing: Framing, [first = 0]: Uint8Array): string | undefined {
  const hasLength = first < LEAST_CHAR
  if (hasLength === (framing === LENGTH_PREFIX)) return undefined
  return hasLength
    ? "the other side sends length-prefixed messages; set framing: 'length-prefix' on both sides or on neither"
    : "the other side sends one message per line; set framing: 'length-prefix' on both sides or on neither"
}
