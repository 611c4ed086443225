import { createByteBuffer } from './byte-buffer.ts'
import { bomLength } from './utf8.ts'

export interface LineReaderOptions {
  /** The longest line, its line break not counted. */
  readonly maxBytes: number
  /** The text of a line; `undefined` when it is not valid UTF-8. The bytes are only lent. */
  readonly decode: (bytes: Uint8Array) => string | undefined
  readonly onLine: (text: string) => void
  /** A line was longer than `maxBytes` and is discarded; the bytes that it began with are only lent. */
  readonly onOversize: (head: Uint8Array) => void
  /** A line was not valid UTF-8 and is discarded. The bytes are only lent. */
  readonly onBadEncoding: (bytes: Uint8Array) => void
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
const SPACE = 0x20
const BLANK = /^[\t-\r ]*$/
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
    if (discarding || buffer.length > 0) {
      const stop = chunk.indexOf(LF)
      if (stop < 0) return keep(chunk)
      finish(chunk.subarray(0, stop))
      start = stop + 1
    }
    const last = chunk.lastIndexOf(LF)
    if (last >= start) deliverAll(chunk.subarray(start, last))
    start = Math.max(start, last + 1)
    if (start < chunk.length) keep(chunk.subarray(start))
  }

  function end(): void {
    finish(EMPTY)
  }

  /** Ends the line of which these are the last bytes. */
  function finish(bytes: Uint8Array): void {
    if (!discarding && buffer.length === 0) return deliver(bytes)
    keep(bytes)
    if (!discarding) return deliver(buffer.view())
    discarding = false
    isFirst = false
  }

  /** Delivers whole lines: cut from one text, which is cheap, unless something may be wrong with one of them. */
  function deliverAll(bytes: Uint8Array): void {
    const text = isFirst || bytes.length > maxBytes ? undefined : decode(bytes)
    if (text !== undefined) return cut(text)
    for (let start = 0; start <= bytes.length;) {
      const stop = bytes.indexOf(LF, start)
      const end = stop < 0 ? bytes.length : stop
      deliver(bytes.subarray(start, end))
      start = end + 1
    }
  }

  function cut(text: string): void {
    for (let start = 0; start <= text.length;) {
      const stop = text.indexOf('\n', start)
      const end = stop < 0 ? text.length : stop
      const line = text.slice(start, text.charCodeAt(end - 1) === CR && end > start ? end - 1 : end)
      if (line.charCodeAt(0) > SPACE || !BLANK.test(line)) onLine(line)
      start = end + 1
    }
  }

  function keep(bytes: Uint8Array): void {
    if (discarding) return
    if (buffer.length + bytes.length <= room) return buffer.append(bytes)
    discarding = true
    onOversize(buffer.length > 0 ? buffer.view() : bytes)
    buffer.clear()
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
    else if (!fits) onOversize(line)
    else if (!blank) onBadEncoding(line.subarray(from, to))
  }
}

function isBlank(line: Uint8Array, from: number, to: number): boolean {
  while (from < to && isSpace(line[from]!)) from++
  return from === to
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
}
