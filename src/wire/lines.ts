import { createByteBuffer } from './byte-buffer.ts'
import { bomLength } from './utf8.ts'

export interface LineReaderOptions {
  /** The longest line, its line break not counted. */
  readonly maxBytes: number
  /** The text of a line; `undefined` when it is not valid UTF-8. The bytes are only lent. */
  readonly decode: (bytes: Uint8Array) => string | undefined
  readonly onLine: (text: string) => void
  /** A line was longer than `maxBytes` and is discarded. */
  readonly onOversize: () => void
  /** A line was not valid UTF-8 and is discarded. */
  readonly onBadEncoding: () => void
}

export interface LineReader {
  push(chunk: Uint8Array): void
  /** Delivers a last line that no newline ended. */
  end(): void
  /** How many bytes wait for the rest of their line. */
  readonly buffered: number
}

const LF = 0x0a
const CR = 0x0d
const EMPTY = new Uint8Array(0)

/**
 * Splits bytes into the messages of a line transport, however the bytes are cut. Blank lines are left out, CR before
 * LF and a byte order mark before the first line are dropped, and no more than `maxBytes` and one chunk is ever held.
 */
export function createLineReader(options: LineReaderOptions): LineReader {
  const { maxBytes, decode, onLine, onOversize, onBadEncoding } = options
  // One byte more than a line may have: it may be the CR of its line break.
  const room = maxBytes + 1
  const buffer = createByteBuffer(room)
  let discarding = false
  let isFirst = true

  return {
    push,
    end,
    get buffered() {
      return buffer.length
    },
  }

  function push(chunk: Uint8Array): void {
    let start = 0
    for (let stop = chunk.indexOf(LF); stop >= 0; stop = chunk.indexOf(LF, start)) {
      finish(chunk, start, stop)
      start = stop + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }

  function end(): void {
    finish(EMPTY, 0, 0)
  }

  /** Ends the line whose last bytes stand in the chunk. */
  function finish(chunk: Uint8Array, start: number, stop: number): void {
    const bytes = chunk.subarray(start, stop)
    if (!discarding && buffer.length === 0) return deliver(bytes)
    keep(bytes)
    if (!discarding) return deliver(buffer.view())
    discarding = false
    isFirst = false
  }

  function keep(bytes: Uint8Array): void {
    if (discarding) return
    if (buffer.length + bytes.length <= room) return buffer.append(bytes)
    buffer.clear()
    discarding = true
    onOversize()
  }

  function deliver(line: Uint8Array): void {
    const from = isFirst ? bomLength(line) : 0
    const to = line.at(-1) === CR ? line.length - 1 : line.length
    isFirst = false
    const fits = to <= maxBytes
    const blank = fits && isBlank(line, from, to)
    const text =
      fits && !blank ? decode(to - from === line.length ? line : line.subarray(from, to)) : undefined
    buffer.clear()
    if (text !== undefined) onLine(text)
    else if (!fits) onOversize()
    else if (!blank) onBadEncoding()
  }
}

function isBlank(line: Uint8Array, from: number, to: number): boolean {
  while (from < to && isSpace(line[from]!)) from++
  return from === to
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
}
