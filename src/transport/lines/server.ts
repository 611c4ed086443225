import type { Readable, Writable } from 'node:stream'
import { beginTurn, inNextTurn, isTurnOver } from '../../base/turn.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { withoutStacks } from '../../errors/stacks.ts'
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
  /** Resumes reading if nothing else speaks against it, for streams that may be paused for other reasons too. */
  readonly resume?: () => void
  /**
   * Called instead of reading on when the other side does not seem to be an MCP client, with the reason. Without it, every
   * line that is not a message is rejected and the next one is read, however many there are.
   */
  readonly onForeign?: (reason: string) => void
  /** Closes the connection because others need the memory that it takes. */
  readonly evict?: () => void
  /** Takes the lines instead of the connection until it is open. */
  readonly gate?: { readonly isOpen: boolean; take(line: string): void } | undefined
}

/** A line that was not read. */
interface Unreadable {
  /** Its text as far as it is known. */
  readonly text: string
  /** Why; by default because it is not UTF-8. */
  readonly why?: 'too large' | McpError | undefined
  readonly id?: RequestId | undefined
}

const BATCH_CHARS = 65_536
const REQUEST_LINE = /^\s*[a-z-]+\s.*\sHTTP\/1\./i

/** Serves one client over two streams. Reading pauses while the client does not read its responses, and while lines wait for their turn. */
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
  readonly #gate: LineServerOptions['gate']
  /** Lines that have arrived and were not taken. */
  #inbox: (string | Unreadable)[] = []
  /** Why the last line was not decoded. */
  #shed: McpError | undefined
  /** Whether the lines in the inbox wait until others had a turn, or until the client has read. */
  isWaiting = false
  /** Whether others have a turn now. */
  #isPausing = false
  /** Called when all lines are taken that arrived before the client ended its side. */
  #onTaken: (() => void) | undefined
  #batch = ''
  /** Whether a message has arrived. */
  #isClient = false
  #isIgnoring = false
  #isStopped = false
  /** Whether the client has not read its responses. */
  #isBehind = false

  constructor(options: LineServerOptions) {
    const { service, limits, source, maxBytes, input, output, write, framing = LINES } = options
    const { onForeign, evict } = options
    this.#input = input
    this.#output = output
    this.#write = write
    this.#resume = options.resume ?? (() => this.#read())
    this.#encode = framing.encode
    this.#onForeign = onForeign
    this.#gate = options.gate
    this.connection = new Connection({
      service,
      limits,
      source,
      send: (text) => this.send(text),
      isBehind: () => output.writableLength > limits.streamBytes,
      ...(onForeign !== undefined && { onInvalid: () => onForeign('it sent too many invalid messages') }),
      ...(evict !== undefined && { evict }),
    })
    this.maxBytes = maxBytes
    this.lines = framing.createReader(this)
    input.on('data', this.#take)
  }

  decode(bytes: Uint8Array): string | undefined {
    this.#shed = this.connection.decodeProblem(bytes.length)
    return this.#shed === undefined ? decodeLine(bytes) : undefined
  }

  onLine(text: string): void {
    this.#inbox.push(text)
  }

  onOversize(head: Uint8Array): void {
    const text = toText(head.subarray(0, 512))
    this.#inbox.push({ text, why: 'too large', id: askedId(text) })
  }

  onBadEncoding(bytes: Uint8Array): void {
    const why = this.#shed
    const text = toText(why === undefined ? bytes : bytes.subarray(0, 512))
    this.#inbox.push({ text, why, id: why && askedId(text) })
  }

  /** The client has ended its side; the last line does not need a line break. Calls `onTaken` when all lines are taken. */
  end(onTaken: () => void): void {
    this.lines.end()
    this.#onTaken = () => {
      this.connection.rejectPending()
      onTaken()
    }
    if (!this.isWaiting) this.#takeAll()
  }

  /** Stops reading from the client. */
  stop(): void {
    this.#isStopped = true
    this.#inbox = []
    this.#input.off('data', this.#take)
    this.#input.pause()
  }

  /** Ignores all further input, and what has arrived of it already. */
  ignore(): void {
    this.#isIgnoring = true
    this.#inbox = []
    this.lines.discard()
  }

  /** Writes the batched messages. Responses to one chunk of input are written together. */
  readonly flush = (): void => {
    if (this.#batch === '') return
    const text = this.#batch
    this.#batch = ''
    if (this.#write(text) || this.#isBehind) return
    this.#isBehind = true
    this.#input.pause()
    this.#output.once('drain', () => {
      this.#isBehind = false
      this.#goOn()
    })
  }

  readonly #take = (chunk: Uint8Array): void => {
    this.lines.push(chunk)
    if (!this.isWaiting) this.#takeAll()
    this.flush()
  }

  /** Takes the lines that have arrived; the rest of them later if that takes long or the client does not read. */
  #takeAll(): void {
    const lines = this.#inbox
    if (lines.length > 0) this.#inbox = []
    if (!beginTurn(this.connection.calls.size) && lines.length > 0) return this.#pause(lines)
    for (let at = 0; at < lines.length; at++) {
      if (this.#isIgnoring) break
      if (this.#isBehind) return this.#keep(lines.slice(at))
      this.count++
      const line = lines[at]!
      const isMessage = typeof line === 'string' ? this.#receive(line) : this.#reject(line)
      if (isMessage === true) this.#isClient = true
      else if (this.#onForeign !== undefined && !this.#isIgnoring)
        this.#checkForeign(line, isMessage === false, this.#onForeign)
      if (isTurnOver(this.connection.calls.size) && at + 1 < lines.length)
        return this.#pause(lines.slice(at + 1))
    }
    const onTaken = this.#onTaken
    this.#onTaken = undefined
    onTaken?.()
  }

  /** Takes the rest of the lines after others had a turn. */
  #pause(rest: (string | Unreadable)[]): void {
    if (this.#isIgnoring) return
    this.#keep(rest)
    this.#isPausing = true
    inNextTurn(() => {
      this.#isPausing = false
      this.#goOn()
    })
  }

  /** Keeps the rest of the lines until there is no reason to wait. */
  #keep(rest: (string | Unreadable)[]): void {
    this.#inbox = rest
    this.isWaiting = true
    this.#input.pause()
  }

  /** Takes the lines that waited, and reads on, if nothing speaks against it. */
  #goOn(): void {
    if (this.#isPausing || this.#isBehind) return
    this.isWaiting = false
    this.#takeAll()
    this.flush()
    if (!this.isWaiting) this.#resume()
  }

  /** Resumes reading unless there is another reason to pause. */
  #read(): void {
    if (!this.isWaiting && !this.#isBehind && !this.#isStopped) this.#input.resume()
  }

  /** Whether a line is a message; undefined if there may be no room to find out. */
  #receive(line: string): boolean | undefined {
    if (this.#gate === undefined || this.#gate.isOpen) return this.connection.receive(line)
    this.#gate.take(line)
    return true
  }

  #reject({ why, id }: Unreadable): false | undefined {
    const limit = this.maxBytes
    const error = withoutStacks(() =>
      why === 'too large' ? mcpError(TOO_LARGE, { limit }) : (why ?? mcpError(PARSE_FAILED, {})),
    )
    this.connection.reject(error, id)
    return why instanceof McpError ? undefined : false
  }

  /**
   * Judges the sender of a line that is not a message, as far as it was read. A web page can make a browser send an HTTP request to any port, with
   * messages in its body, so a sender whose first line is invalid is not a client, and never one that speaks HTTP.
   */
  #checkForeign(line: string | Unreadable, isRead: boolean, onForeign: (reason: string) => void): void {
    if (REQUEST_LINE.test(typeof line === 'string' ? line : line.text)) onForeign('it sent an HTTP request')
    else if (!this.#isClient && isRead) onForeign('its first line is not a message')
  }

  /** Sends one message. */
  send(text: string): void {
    if (this.#batch === '') queueMicrotask(this.flush)
    this.#batch += this.#encode(text)
    if (this.#batch.length > BATCH_CHARS) this.flush()
  }
}
