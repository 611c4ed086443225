import { Buffer } from 'node:buffer'
import { mcpError } from '../../errors/error.ts'
import { BAD_OPTION } from '../../errors/base.ts'
import { createFrameReader } from '../../wire/frames.ts'
import { LINES, type Framing, type FramingName } from '../lines/framing.ts'

/** The length of each message before it, in four bytes. */
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
export function framingOf(where: string, name: FramingName = 'lines'): Framing {
  if (name === 'lines') return LINES
  if (name === 'length-prefix') return LENGTH_PREFIX
  const reason = `"${String(name)}" is none of lines, length-prefix`
  throw mcpError(BAD_OPTION, { where: `${where} framing`, reason })
}

/** No message begins with what a length begins with, nor the other way round. */
const LEAST_LETTER = 9

/** What the other side does otherwise, by the first byte that came from it; undefined when all is well. */
export function mismatchOf(framing: Framing, [first = 0]: Uint8Array): string | undefined {
  const hasLength = first < LEAST_LETTER
  if (hasLength === (framing === LENGTH_PREFIX)) return undefined
  return hasLength
    ? "the other side puts a length before each message: both need framing: 'length-prefix', or neither"
    : "the other side sends one message a line: both need framing: 'length-prefix', or neither"
}
