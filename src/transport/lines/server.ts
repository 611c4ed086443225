import type { Readable, Writable } from 'node:stream'
import { mcpError } from '../../errors/error.ts'
import { PARSE_FAILED, TOO_LARGE } from '../../errors/wire.ts'
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
  /** The longest message. */
  readonly maxBytes: number
  /** How messages are told apart; by lines unless given. */
  readonly framing?: Framing
  readonly input: Readable
  readonly output: Writable
  /** Writes to the output; false when that has more to do than it should. */
  write(text: string): boolean
  /** Reads on when the output has caught up, for streams that may have other reasons to wait. */
  readonly resume?: () => void
}

const BATCH_CHARS = 65_536

/** One client on two streams of lines: no more is read from it than it reads itself. */
export class LineServer implements LineReaderOptions {
  readonly connection: Connection
  readonly lines: LineReader
  readonly maxBytes: number
  /** How many lines came. */
  count = 0
  readonly #input: Readable
  readonly #output: Writable
  readonly #write: (text: string) => boolean
  readonly #resume: () => void
  readonly #seal: (text: string) => string
  /** The lines of one chunk, or what to do about those that cannot be read. */
  readonly #inbox: (string | (() => void))[] = []
  #batch = ''

  constructor(options: LineServerOptions) {
    const { service, limits, source, maxBytes, input, output, write, framing = LINES } = options
    this.#input = input
    this.#output = output
    this.#write = write
    this.#resume = options.resume ?? (() => input.resume())
    this.#seal = framing.seal
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
    const id = askedId(toText(head.subarray(0, 512)))
    this.#inbox.push(() => this.connection.refuse(mcpError(TOO_LARGE, { limit: this.maxBytes }), id))
  }

  onBadEncoding(): void {
    this.#inbox.push(() => this.connection.refuse(mcpError(PARSE_FAILED, {})))
  }

  /** The client sends nothing more: a last line needs no line break. */
  end(): void {
    this.lines.end()
    this.#takeAll()
    this.connection.rejectPending()
  }

  /** Takes nothing more from the client. */
  stop(): void {
    this.#input.off('data', this.#take)
    this.#input.pause()
  }

  /** Messages that one chunk of input brings about leave together; this lets them go. */
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
      if (typeof line === 'string') this.connection.receive(line)
      else line()
    }
  }

  #send(text: string): void {
    if (this.#batch === '') queueMicrotask(this.flush)
    this.#batch += this.#seal(text)
    if (this.#batch.length > BATCH_CHARS) this.flush()
  }
}
