import { createLineReader, type LineReader, type LineReaderOptions } from '../../wire/lines.ts'

/** How a stream is cut into messages. */
export interface Framing {
  createReader(options: LineReaderOptions): LineReader
  /** A message as it is written. */
  seal(text: string): string
  /** How what is sealed becomes bytes. */
  readonly encoding: 'utf8' | 'latin1'
  /** Something that may be written at any time and means nothing. */
  readonly nothing: string
}

/** One message a line. */
export const LINES: Framing = {
  createReader: createLineReader,
  seal: (text) => `${text}\n`,
  encoding: 'utf8',
  nothing: '\n',
}
