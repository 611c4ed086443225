import { createByteBuffer, type ByteBuffer } from './byte-buffer.ts'
import { bomLength } from './utf8.ts'

export interface LineReaderOptions {
  /** The longest line, excluding its line break. */
  readonly maxBytes: number
  /** Decodes a line; `undefined` if it is not valid UTF-8. The bytes are valid only during the call. */
  decode(bytes: Uint8Array): string | undefined
  onLine(text: string): void
  /** A line was longer than `maxBytes` and is discarded; its first bytes are valid only during the call. */
  onOversize(head: Uint8Array): void
  /** A line was not valid UTF-8 and is discarded. The bytes are valid only during the call. */
  onBadEncoding(bytes: Uint8Array): void
}

export interface LineReader {
  push(chunk: Uint8Array): void
  /** Delivers a last line without a line break. */
  end(): void
  /** The number of buffered bytes of an incomplete line. */
  readonly buffered: number
  /** Whether a line is incomplete, whether kept or discarded. */
  readonly isInside: boolean
  /** Discards the incomplete line up to its end. */
  discard(): void
}

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const BLANK = /^[\t-\r ]*$/
const EMPTY = new Uint8Array(0)

/**
 * Splits chunks of bytes into the messages of a line transport. Blank lines, CR before LF and a byte order mark before the
 * first line are skipped, and no more than `maxBytes` and one chunk is ever buffered.
 */
export function createLineReader(options: LineReaderOptions): LineReader {
  return new Lines(options)
}

/** A class to save memory: a server has one per connection. */
class Lines implements LineReader {
  readonly #options: LineReaderOptions
  readonly #buffer: ByteBuffer
  #discarding = false
  #isFirst = true

  constructor(options: LineReaderOptions) {
    this.#options = options
    this.#buffer = createByteBuffer(this.#room)
  }

  get buffered(): number {
    return this.#buffer.length
  }

  get isInside(): boolean {
    return this.#discarding || this.#buffer.length > 0
  }

  push(chunk: Uint8Array): void {
    let start = 0
    if (this.isInside) {
      const stop = chunk.indexOf(LF)
      if (stop < 0) return this.#keep(chunk)
      this.#finish(chunk.subarray(0, stop))
      start = stop + 1
    }
    const last = chunk.lastIndexOf(LF)
    if (last >= start) this.#deliverAll(chunk.subarray(start, last))
    start = Math.max(start, last + 1)
    if (start < chunk.length) this.#keep(chunk.subarray(start))
  }

  end(): void {
    this.#finish(EMPTY)
  }

  discard(): void {
    this.#buffer.clear()
    this.#discarding = true
  }

  /** One byte more than the longest line, because it may be the CR of the line break. */
  get #room(): number {
    return this.#options.maxBytes + 1
  }

  /** Completes a line with its last bytes. */
  #finish(bytes: Uint8Array): void {
    if (!this.isInside) return this.#deliver(bytes)
    this.#keep(bytes)
    if (!this.#discarding) return this.#deliver(this.#buffer.view())
    this.#discarding = false
    this.#isFirst = false
  }

  /** Delivers complete lines: cut from one decoded text, which is cheap, unless one of them may be invalid. */
  #deliverAll(bytes: Uint8Array): void {
    const { maxBytes } = this.#options
    const text = this.#isFirst || bytes.length > maxBytes ? undefined : this.#options.decode(bytes)
    if (text !== undefined) return this.#cut(text)
    for (let start = 0; start <= bytes.length;) {
      const stop = bytes.indexOf(LF, start)
      const end = stop < 0 ? bytes.length : stop
      this.#deliver(bytes.subarray(start, end))
      start = end + 1
    }
  }

  #cut(text: string): void {
    for (let start = 0; start <= text.length;) {
      const stop = text.indexOf('\n', start)
      const end = stop < 0 ? text.length : stop
      const line = text.slice(start, text.charCodeAt(end - 1) === CR && end > start ? end - 1 : end)
      if (line.charCodeAt(0) > SPACE || !BLANK.test(line)) this.#options.onLine(line)
      start = end + 1
    }
  }

  #keep(bytes: Uint8Array): void {
    if (this.#discarding) return
    if (this.#buffer.length + bytes.length <= this.#room) return this.#buffer.append(bytes)
    this.#discarding = true
    this.#options.onOversize(this.#buffer.length > 0 ? this.#buffer.view() : bytes)
    this.#buffer.clear()
  }

  #deliver(line: Uint8Array): void {
    const from = this.#isFirst ? bomLength(line) : 0
    const to = line.at(-1) === CR ? line.length - 1 : line.length
    this.#isFirst = false
    const fits = to <= this.#options.maxBytes
    const blank = fits && isBlank(line, from, to)
    const text =
      fits && !blank
        ? this.#options.decode(to - from === line.length ? line : line.subarray(from, to))
        : undefined
    this.#buffer.clear()
    if (text !== undefined) this.#options.onLine(text)
    else if (!fits) this.#options.onOversize(line)
    else if (!blank) this.#options.onBadEncoding(line.subarray(from, to))
  }
}

function isBlank(line: Uint8Array, from: number, to: number): boolean {
  while (from < to && isSpace(line[from]!)) from++
  return from === to
}

function isSpace(byte: number): boolean {
  return byte === SPACE || (byte >= 0x09 && byte <= 0x0d)
}
