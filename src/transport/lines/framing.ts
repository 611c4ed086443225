import { createLineReader, type LineReader, type LineReaderOptions } from '../../wire/lines.ts'

/** How a stream is split into messages. */
export interface Framing {
  createReader(options: LineReaderOptions): LineReader
  /** Encodes a message for writing. */
  encode(text: string): string
  /** How encoded text becomes bytes. */
  readonly encoding: 'utf8' | 'latin1'
  /** May be written between messages at any time; readers ignore it. */
  readonly emptyFrame: string
}

/** One message per line. */
export const LINES: Framing = {
  createReader: createLineReader,
  encode: (text) => `${text}\n`,
  encoding: 'utf8',
  emptyFrame: '\n',
}
