import { Buffer } from 'node:buffer'
import { mcpError } from '../../protocol/errors.ts'
import { createFrameReader } from '../../wire/frames.ts'
import { LINES, type Framing, type FramingName } from '../lines/framing.ts'

/** The length of each message before it, in four bytes. */
const LENGTH_PREFIX: Framing = {
  createReader: createFrameReader,
  seal(text) {
    const head = Buffer.allocUnsafe(4)
    head.writeUInt32BE(Buffer.byteLength(text))
    return head.toString('latin1') + Buffer.from(text).toString('latin1')
  },
  encoding: 'latin1',
  nothing: '\0\0\0\0',
}

/** The framing that an option names. */
export function framingOf(where: string, name: FramingName = 'lines'): Framing {
  if (name === 'lines') return LINES
  if (name === 'length-prefix') return LENGTH_PREFIX
  const reason = `"${String(name)}" is none of lines, length-prefix`
  throw mcpError('bad_option', { where: `${where} framing`, reason })
}
