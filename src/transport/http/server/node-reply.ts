import type { IncomingMessage, ServerResponse } from 'node:http'
import { endOfTurn, nextTurn } from '../../../base/turn.ts'
import { replyText, type CachedReply, type Reply } from '../../../wire/reply.ts'
import {
  callerOf,
  JSON_HEADERS,
  NO_HEADERS,
  type HttpHandler,
  type HttpIn,
  type HttpOut,
  type Sink,
  type Source,
} from './parts.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { countWaiting, isWaiting } from './pipeline.ts'
import { longText } from './long-text.ts'
import { type Outlet, unsentBy, WriteBudget } from '../../io/write-budget.ts'

/** A body up to this size is cheaper to read than a new connection. */
const SMALL_BYTES = 65_536
/** A text of so many characters is converted to bytes as fast as the client reads it. */
const LONG_CHARS = 1_048_576
/** How long a client that is still sending has to read the reply. */
const LINGER_MS = 500
const NO_BYTES = new Uint8Array()
/** Statuses of replies that have neither a body nor a length. */
const NO_BODY: ReadonlySet<number> = new Set([204, 304])

/** Replies to a request whose body is not wanted. A large or slow body is not read, and its connection is closed. */
export function rejectUnread(request: IncomingMessage, response: ServerResponse, out: HttpOut): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  const comesSoon = encoding === undefined && Number(length) <= SMALL_BYTES && out.status !== 408
  if (request.complete || comesSoon) return write(response, out)
  if (response.destroyed || response.headersSent) return
  request.pause()
  const body = replyText(out.body ?? '')
  const headers = { ...out.headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  // Ending the response would close the connection at once, and a client that is still sending would miss the reply.
  response.writeHead(out.status, headers).write(body)
  countWaiting(response, undefined)
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  response.once('close', () => clearTimeout(timer))
}

/** A request and where its reply goes. */
interface Replying extends HttpIn {
  readonly response: ServerResponse
}

/** Writes a reply, now or when it is there. */
export function respond(request: Replying, handler: HttpHandler, out: HttpOut | Promise<HttpOut>): void {
  const { response } = request
  if (!(out instanceof Promise)) return write(response, out, handler, request)
  // A web handler or an authenticator may have given headers that Node does not accept.
  const fail = (thrown: unknown): void =>
    write(response, handler.fail(undefined, thrown, undefined, NO_HEADERS))
  void out.then((late) => {
    try {
      write(response, late, handler, request)
    } catch (thrown) {
      void late.source?.readable.cancel()
      fail(thrown)
    }
  }, fail)
}

/** Writes a reply. The unread bytes of a large reply or a stream are counted, and all bytes that wait for an earlier reply. */
function write(response: ServerResponse, out: HttpOut, handler?: HttpHandler, request?: HttpIn): void {
  writeReply(response, out, handler, request)
  countWaiting(response, request)
}

function writeReply(response: ServerResponse, out: HttpOut, handler?: HttpHandler, request?: HttpIn): void {
  if (response.destroyed || response.headersSent) {
    void out.source?.readable.cancel()
    return out.stream?.attach(GONE)
  }
  if (out.stream !== undefined) {
    const sink = new ResponseSink(response, out, handler, request)
    if ((request?.auth ?? request?.certified) !== undefined)
      response.once('close', handler?.service.leases.holdFor(request as HttpIn, () => sink.stop()) ?? ignore)
    out.stream.attach(sink)
    return sink.open()
  }
  if (out.body === undefined) return writeBytes(response, out, handler, request)
  const { body } = out
  const length = lengthOf(body)
  const headers =
    out.headers === JSON_HEADERS
      ? { 'content-type': 'application/json', 'content-length': length }
      : { ...out.headers, 'content-length': length }
  response.writeHead(out.status, headers)
  if (typeof body === 'string') response.end(toSend(body, length))
  else writePieces(response, body)
  if (length > SMALL_BYTES && handler !== undefined) countUnsent(response, length, handler, request)
}

function writeBytes(
  response: ServerResponse,
  out: HttpOut,
  handler: HttpHandler | undefined,
  request: HttpIn | undefined,
): void {
  const { status, headers, cookies, bytes = NO_BYTES, source } = out
  const all = { ...headers, ...(cookies && { 'set-cookie': [...cookies] }) }
  if (source !== undefined) return writeSource(response.writeHead(status, all), source, handler, request)
  // Only a reply to HEAD has a length of its own: that of the body it leaves out.
  const length = NO_BODY.has(status) ? undefined : { 'content-length': bytes.length }
  response.writeHead(status, { ...length, ...all }).end(bytes)
  if (bytes.length > SMALL_BYTES && handler !== undefined)
    countUnsent(response, bytes.length, handler, request)
}

/** Sends a body as fast as the client reads it. */
function writeSource(
  response: ServerResponse,
  source: Source,
  handler: HttpHandler | undefined,
  request: HttpIn | undefined,
): void {
  const reader = source.readable.getReader()
  const stop = (): void => void reader.cancel().catch(() => undefined)
  response.once('close', stop)
  response.flushHeaders()
  let held = 0
  let left = 0
  let isBlocked = false
  // What was produced and not written counts, too, and shows whether the client reads.
  const outlet = (): Outlet => ({ _handle: { writeQueueSize: left, _parent: socketOf(response)?._handle } })
  const sending = handler && createBudget(response, handler, request, outlet)
  const recount = (): void => {
    if (isBlocked) sending?.set(held + response.writableLength)
    else sending?.set(held > SMALL_BYTES ? held : 0)
  }
  source.watch((bytes, rest) => {
    held = bytes
    left = rest
    recount()
  })
  // Whoever made the source has reported why it broke.
  pump().catch(() => response.destroy())

  async function pump(): Promise<void> {
    let end = endOfTurn()
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      const isReady = response.write(step.value)
      countWaiting(response, request)
      if (!isReady) {
        isBlocked = true
        recount()
        await drained(response)
        isBlocked = false
        recount()
      }
      if (performance.now() > end) end = await nextTurn()
    }
    response.end()
  }
}

/** Resolves when a response takes more, or is over. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    if (response.destroyed) resolve()
    else response.on('drain', done).on('close', done)
  })
}

function lengthOf(body: Reply): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  const { before, kept, after } = body
  return Buffer.byteLength(before) + kept.bytes.length + after.length
}

/** Converts a long text to bytes, because Node would otherwise hold several copies until it is sent. */
function toSend(text: string, length: number): string | Buffer {
  return length > SMALL_BYTES ? Buffer.from(text) : text
}

function writePieces(response: ServerResponse, { before, kept, after }: CachedReply): void {
  response.cork()
  response.write(before)
  response.write(kept.bytes)
  response.end(after)
  response.uncork()
}

/** Counts a large reply until it is sent; a client that reads nothing for a while is aborted. */
function countUnsent(
  response: ServerResponse,
  length: number,
  handler: HttpHandler,
  request: HttpIn | undefined,
): void {
  if (isWaiting(response))
    return void response.once('socket', () => countUnsent(response, length, handler, request))
  const sending = createBudget(response, handler, request)
  sending.set(length)
  response.once('close', () => sending.set(0))
}

function createBudget(
  response: ServerResponse,
  handler: HttpHandler,
  request: HttpIn | undefined,
  outlet = (): Outlet | null => socketOf(response),
): WriteBudget {
  return new WriteBudget({
    pool: budgetsOf(handler.service, handler.limits).write,
    caller: request && callerOf(request),
    outlet,
    patienceMs: handler.limits.bodyMs,
    abort: () => abortSlow(response, handler),
  })
}

function socketOf({ socket }: ServerResponse): Outlet | null {
  return socket as Outlet | null
}

/** Aborts the connection of a client that reads too slowly. */
function abortSlow(response: ServerResponse, handler: HttpHandler | undefined): void {
  if (response.destroyed) return
  handler?.service.observers.count('slow_reader')
  response.destroy()
}

/** Writes a stream. The head is sent with the first frame. */
class ResponseSink implements Sink {
  readonly #response: ServerResponse
  readonly #out: HttpOut
  readonly #handler: HttpHandler | undefined
  readonly #request: HttpIn | undefined
  #sending: WriteBudget | undefined
  /** Whether the end of a long text is still to be written. */
  #isEnding = false

  constructor(
    response: ServerResponse,
    out: HttpOut,
    handler: HttpHandler | undefined,
    request: HttpIn | undefined,
  ) {
    this.#response = response
    this.#out = out
    this.#handler = handler
    this.#request = request
  }

  /** Sends the head, if it has not been sent yet. */
  open(): void {
    if (!this.#response.headersSent) this.#begin().flushHeaders()
  }

  write(text: string): void {
    // A stream whose token expired is over before its writer knows.
    if (this.#isOver) return
    const response = this.#begin()
    // Buffer bytes, not text: the length of a string is not its size in memory.
    response.write(response.writableLength > 0 || text.length > SMALL_BYTES ? Buffer.from(text) : text)
    countWaiting(response, this.#request)
    const handler = this.#handler
    if (isWaiting(response)) return
    if (this.#sending === undefined && handler !== undefined && response.writableLength > SMALL_BYTES) {
      // Keep-alive comments detect a client that reads nothing at all.
      this.#sending = new WriteBudget({
        pool: budgetsOf(handler.service, handler.limits).write,
        caller: this.#request && callerOf(this.#request),
        outlet: () => socketOf(response),
        patienceMs: Number.POSITIVE_INFINITY,
        abort: () => this.abort(),
      })
      response.on('drain', () => this.#recount()).once('close', () => this.#recount())
    }
    this.#recount()
  }

  end(...texts: readonly string[]): void {
    if (this.#isOver) return
    const chars = texts.reduce((sum, { length: more }) => sum + more, 0)
    if (chars >= LONG_CHARS && this.#response.socket !== null) return this.#endLong(texts)
    const text = texts.join('')
    const length = Buffer.byteLength(text)
    this.#begin(length).end(toSend(text, length))
    countWaiting(this.#response, this.#request)
    if (length > SMALL_BYTES && this.#handler !== undefined)
      countUnsent(this.#response, length, this.#handler, this.#request)
  }

  /** A client may ask for a long text again and again, and leave before it is sent. */
  #endLong(texts: readonly string[]): void {
    this.#isEnding = true
    writeSource(this.#begin(), longText(texts), this.#handler, this.#request)
  }

  /** Ends the stream of a caller who may read no more of it. */
  stop(): void {
    // The rest of a long text would still be sent.
    if (this.#isEnding && !this.#response.writableEnded) this.#response.destroy()
    else this.end()
  }

  get #isOver(): boolean {
    return this.#isEnding || this.#response.writableEnded
  }

  abort(): void {
    abortSlow(this.#response, this.#handler)
  }

  get waiting(): number {
    return this.#response.writableLength
  }

  get unsent(): number | undefined {
    return unsentBy(socketOf(this.#response))
  }

  onGone(listener: () => void): void {
    this.#response.once('close', listener)
  }

  #begin(length?: number): ServerResponse {
    const { status, headers } = this.#out
    if (this.#response.headersSent) return this.#response
    return this.#response.writeHead(
      status,
      length === undefined ? headers : { ...headers, 'content-length': length },
    )
  }

  #recount(): void {
    this.#sending?.set(this.#response.destroyed ? 0 : this.#response.writableLength)
  }
}

function ignore(): void {}

/** Stands for a client that disconnected before its stream started. */
const GONE: Sink = {
  write: () => undefined,
  end: () => undefined,
  abort: () => undefined,
  waiting: 0,
  onGone: (listener) => queueMicrotask(listener),
}
