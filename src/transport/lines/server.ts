import type { Readable, Writable } from 'node:stream'
import { mcpError, type McpError } from '../../errors/error.ts'
import { PARSE_FAILED, TOO_LARGE } from '../../errors/wire.ts'
import type { RequestId } from '../../protocol/jsonrpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import type { RequestSource } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import type { LineReader, LineReaderOptions } from '../../wire/lines.ts'
import { askedId } from '../io/asked-id.ts'
import { Connection } from '../io/connection.ts'
import { LINES, type Framing } from './framing.ts'
import { decodeLine, toText } from './text.ts'

export interface LineServerOptions {
  readonly service: Service
  readonly limits: Limits
  readonly source: RequestSource
  /** The largest accepted message. */
  readonly maxBytes: number
  /** How the stream is split into messages; by lines unless given. */
  readonly framing?: Framing
  readonly input: Readable
  readonly output: Writable
  /** Writes to the output; false when its buffer is full. */
  write(text: string): boolean
  /** Resumes reading when the output has drained, for streams that may be paused for other reasons too. */
  readonly resume?: () => void
  /**
   * Called instead of reading on when the other side does not seem to be an MCP client, with the reason. Without it, every
   * line that is not a message is rejected and the next one is read.
   */
  readonly onForeign?: (reason: string) => void
}

/** A line that could not be read. */
interface Unreadable {
  /** Its text as far as it is known. */
  readonly text: string
  readonly error: McpError
  readonly id?: RequestId | undefined
}

const BATCH_CHARS = 65_536
const REQUEST_LINE = /^\s*[a-z-]+\s.*\sHTTP\/1\./i

/** Serves one client over two streams. Reading pauses while the client does not read its responses. */
export class LineServer implements LineReaderOptions {
  readonly connection: Connection
  readonly lines: LineReader
  readonly maxBytes: number
  /** How many lines have arrived. */
  count = 0
  readonly #input: Readable
  readonly #output: Writable
  readonly #write: (text: string) => boolean
  readonly #resume: () => void
  readonly #encode: (text: string) => string
  readonly #onForeign: ((reason: string) => void) | undefined
  /** The lines of one chunk. */
  readonly #inbox: (string | Unreadable)[] = []
  #batch = ''
  /** Whether a message has arrived. */
  #isClient = false
  #isIgnoring = false

  constructor(options: LineServerOptions) {
    const { service, limits, source, maxBytes, input, output, write, framing = LINES } = options
    this.#input = input
    this.#output = output
    this.#write = write
    this.#resume = options.resume ?? (() => input.resume())
    this.#encode = framing.encode
    this.#onForeign = options.onForeign
    this.connection = new Connection({
      service,
      limits,
      source,
      send: (text) => this.#send(text),
      isBehind: () => output.writableLength > limits.streamBytes,
    })
    this.maxBytes = maxBytes
    this.lines = framing.createReader(this)
    input.on('data', this.#take)
  }

  decode(bytes: Uint8Array): string | undefined {
    return decodeLine(bytes)
  }

  onLine(text: string): void {
    this.#inbox.push(text)
  }

  onOversize(head: Uint8Array): void {
    const text = toText(head.subarray(0, 512))
    this.#inbox.push({ text, error: mcpError(TOO_LARGE, { limit: this.maxBytes }), id: askedId(text) })
  }

  onBadEncoding(bytes: Uint8Array): void {
    this.#inbox.push({ text: toText(bytes), error: mcpError(PARSE_FAILED, {}) })
  }

  /** The client has ended its side; the last line does not need a line break. */
  end(): void {
    this.lines.end()
    this.#takeAll()
    this.connection.rejectPending()
  }

  /** Stops reading from the client. */
  stop(): void {
    this.#input.off('data', this.#take)
    this.#input.pause()
  }

  /** Ignores all further input, and what has arrived of it already. */
  ignore(): void {
    this.#isIgnoring = true
    this.lines.discard()
  }

  /** Writes the batched messages. Responses to one chunk of input are written together. */
  readonly flush = (): void => {
    if (this.#batch === '') return
    const text = this.#batch
    this.#batch = ''
    if (this.#write(text) || this.#input.isPaused()) return
    this.#input.pause()
    this.#output.once('drain', this.#resume)
  }

  readonly #take = (chunk: Uint8Array): void => {
    this.lines.push(chunk)
    this.#takeAll()
    this.flush()
  }

  #takeAll(): void {
    this.count += this.#inbox.length
    for (const line of this.#inbox.splice(0)) {
      if (this.#isIgnoring) return
      if (typeof line === 'string' ? this.connection.receive(line) : this.#reject(line)) this.#isClient = true
      else if (this.#onForeign !== undefined) this.#checkForeign(line, this.#onForeign)
    }
  }

  #reject({ error, id }: Unreadable): boolean {
    this.connection.reject(error, id)
    return false
  }

  /**
   * Judges the sender of a line that is not a message. A web page can make a browser send an HTTP request to any port, with
   * messages in its body, so a sender whose first line is invalid is not a client, and never one that speaks HTTP.
   */
  #checkForeign(line: string | Unreadable, onForeign: (reason: string) => void): void {
    if (REQUEST_LINE.test(typeof line === 'string' ? line : line.text)) onForeign('it sent an HTTP request')
    else if (!this.#isClient) onForeign('its first line is not a message')
  }

  #send(text: string): void {
    if (this.#batch === '') queueMicrotask(this.flush)
    this.#batch += this.#encode(text)
    if (this.#batch.length > BATCH_CHARS) this.flush()
  }
}
