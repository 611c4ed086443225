import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { BODY_BROKEN } from '../../../errors/http.ts'
import { PARSE_FAILED } from '../../../errors/wire.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Endpoint } from './endpoint.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { decodeProblem } from '../../io/heap-guard.ts'
import { ReadBudget, senderOf, type Sender } from '../../io/read-budget.ts'
import { afterMs, type Timer } from '../../io/timer.ts'
import { createByteBuffer, type ByteBuffer } from '../../../wire/byte-buffer.ts'
import { bodyRead, takeBody } from './given-body.ts'
import { givenCaller, reportSiteError } from './given-caller.ts'
import { rejectUnread, respond } from './node-reply.ts'
import { bodyOf, isStream, NodeHead, targetOf, type NodeRequest } from './node-request.ts'
import { enterPipeline, headBytes, OVERHEAD } from './pipeline.ts'
import type { Trust } from './proxy.ts'
import {
  hasBody,
  type Authenticated,
  type ExtraEndpoint,
  type HttpHandler,
  type HttpIn,
  type HttpOut,
} from './parts.ts'

const NO_BYTES = new Uint8Array()

type Serve = (request: NodeRequest, response: ServerResponse, body?: unknown) => void

/**
 * Serves an endpoint to Node's own HTTP server and to frameworks built on it. A framework may mount it at any path, so
 * extra endpoints are found by the end of the path unless `owns` decides otherwise.
 */
export function serveNode(
  endpoint: Endpoint,
  owns: (extra: ExtraEndpoint, target: string) => boolean = (extra, target) => extra.owns(target),
): Serve {
  const serve = serveHandler(endpoint, endpoint)
  if (endpoint.extraEndpoints.length === 0) return serve
  const extras = endpoint.extraEndpoints.map((handler) => ({
    handler,
    serve: serveHandler(handler, endpoint),
  }))
  return (request, response, body) => {
    const target = targetOf(request)
    const found = extras.find(({ handler }) => owns(handler, target)) ?? { serve }
    found.serve(request, response, body)
  }
}

/** Answers a request with an error. */
export function failNode(
  endpoint: Endpoint,
  request: NodeRequest,
  response: ServerResponse,
  thrown: unknown,
): void {
  rejectUnread(request, response, endpoint.rejectUnread(new NodeHead(request, endpoint.trusts), thrown))
}

function serveHandler(
  handler: HttpHandler,
  endpoint: Pick<Endpoint, 'acceptQueue' | 'trusts' | 'document'>,
): Serve {
  const { acceptQueue, trusts } = endpoint
  const pool = budgetsOf(handler.service, handler.limits).read
  return (request, response, given) => {
    if (!enterPipeline(request, response, handler)) return
    const parts = new NodeIn(request, response, trusts)
    attempt(parts, given, () => {
      const rejection = endpoint.document(parts) ?? handler.rejectHead(parts)
      if (rejection !== undefined) return rejectGiven(parts, given, rejection)
      const caller = handler.authenticate?.(parts) ?? { auth: givenCaller(request.auth) }
      if (!(caller instanceof Promise)) return admit(request, parts, given, caller)
      admitLater(request, parts, given, caller)
    })
  }

  /** Counts the memory of a request while its caller is being identified. */
  function admitLater(
    request: NodeRequest,
    parts: NodeIn,
    given: unknown,
    caller: Promise<Authenticated>,
  ): void {
    const waiting = new ReadBudget(pool, Number.POSITIVE_INFINITY, parts)
    const problem = waiting.take(OVERHEAD + headBytes(request))
    if (problem !== undefined) {
      waiting.end()
      return reject(parts, given, problem)
    }
    void caller.then((known) => {
      waiting.end()
      attempt(parts, given, () => admit(request, parts, given, known))
    })
  }

  /** Runs a step of a request. Nothing else would catch what a callback throws, and the process would end. */
  function attempt(parts: NodeIn, body: unknown, step: () => void): void {
    try {
      step()
    } catch (thrown) {
      reject(parts, body, thrown)
    }
  }

  function admit(request: NodeRequest, parts: NodeIn, given: unknown, caller: Authenticated): void {
    if ('reply' in caller) return rejectGiven(parts, given, caller.reply)
    parts.auth = caller.auth
    readAndAnswer(request, parts, given)
  }

  function readAndAnswer(request: NodeRequest, parts: NodeIn, given: unknown): void {
    if (!hasBody(parts)) return respond(parts, handler, handler.answer(parts))
    const body = bodyOf(request, given)
    if (!isStream(body)) {
      takeBody(parts, body, handler.limits, handler.service)
      return answerInTurn(request, parts)
    }
    parts.stream = body
    const reading = new ReadBudget(pool, handler.limits.httpBytes, parts)
    readBody(parts, body, { reading, handler }, (text) => {
      if (typeof text !== 'string') return reject(parts, body, text)
      parts.body = text
      attempt(parts, body, () => answerInTurn(request, parts, reading))
    })
  }

  function reject(parts: NodeIn, body: unknown, thrown: unknown): void {
    reportSiteError(handler.service, thrown)
    rejectGiven(parts, body, handler.rejectUnread(parts, thrown))
  }

  function answerInTurn({ socket }: NodeRequest, parts: NodeIn, reading?: ReadBudget): void {
    if (acceptQueue.enter(socket)) return answer(parts, reading)
    acceptQueue.queue((isLate) => {
      // A request whose client disconnected needs no response; other messages are still processed.
      parts.isLate = isLate || (socket.destroyed && handler.answersElsewhere !== true)
      attempt(parts, undefined, () => answer(parts, reading))
    })
  }

  function answer(parts: NodeIn, reading: ReadBudget | undefined): void {
    try {
      respond(parts, handler, handler.answer(parts))
    } finally {
      reading?.end()
    }
  }
}

/** Replies to a request whose body, or what the framework made of it, is not wanted. */
function rejectGiven({ request, response }: NodeIn, given: unknown, out: HttpOut): void {
  if (given !== request && isStream(given)) discard(request, given)
  rejectUnread(request, response, out)
}

/** A Node request as plain parts, and the sender of its body. */
class NodeIn extends NodeHead implements HttpIn, Sender {
  body = ''
  parsed: unknown = undefined
  size = 0
  isLate = false
  session: object | undefined = undefined
  /** The caller. A new property on the request would slow down everything in Node that uses requests. */
  auth: Auth | undefined = undefined
  readonly response: ServerResponse
  /** The stream that the body is read from. */
  stream: Readable | undefined = undefined
  /** Ends the reading of the body with an error. */
  giveUp: ((error: McpError) => void) | undefined = undefined

  constructor(request: NodeRequest, response: ServerResponse, trusts: Trust | undefined) {
    super(request, trusts)
    this.response = response
  }

  get certified(): Auth | undefined {
    return this.request.certified
  }

  get connection(): object {
    return this.request.socket
  }

  caller(): unknown {
    return senderOf(this, this.connection)
  }

  pause(): void {
    this.stream?.pause()
  }

  resume(): void {
    this.stream?.resume()
  }

  reject(error: McpError): void {
    this.giveUp?.(error)
  }

  onGone(listener: () => void): void {
    if (this.response.closed || this.response.destroyed) queueMicrotask(listener)
    else this.response.once('close', listener)
  }
}

interface BodyOptions {
  /** Counts the bytes until it is ended. */
  readonly reading: ReadBudget
  readonly handler: Pick<HttpHandler, 'limits' | 'service'>
}

/**
 * Reads the whole body unless it is too large, too slow, or not UTF-8. For the request itself, the timeout starts with
 * the first chunk of an incomplete body, because the listener handles clients that send nothing at all. For a stream that
 * a framework passed, it starts at once. `done` gets the text or the error, and is not called if the client disconnects.
 */
function readBody(
  parts: NodeIn,
  body: Readable,
  { reading, handler: { limits, service } }: BodyOptions,
  done: (result: unknown) => void,
): void {
  const { request } = parts
  const isPassed = body !== request
  const known = stateOf(body, isPassed)
  if (known !== undefined) return done(known)
  // What a framework made of the body may have any size.
  const announced = isPassed ? NaN : Number(request.headers['content-length'])
  const tooLarge = reading.announce(announced)
  if (tooLarge !== undefined) return done(tooLarge)
  /** Most bodies arrive in one part; many small ones would take far more memory than their bytes. */
  let first: Uint8Array | undefined
  let buffer: ByteBuffer | undefined
  let finished = false
  let timer: Timer
  body.on('data', (chunk: unknown) => {
    try {
      take(chunk)
    } catch (thrown) {
      finish(thrown)
    }
  })
  parts.giveUp = finish
  body.on('end', () => finish(decode()))
  body.on('close', () => finish(isPassed ? mcpError(BODY_BROKEN, {}) : undefined))
  if (isPassed) {
    startTimer()
    body.on('error', (cause) => finish(mcpError(BODY_BROKEN, {}, { cause })))
    parts.onGone(() => {
      if (finished) return
      finish(undefined)
      body.destroy()
    })
  }

  function take(chunk: unknown): void {
    if (finished) return
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!(bytes instanceof Uint8Array)) return finish(bodyRead())
    const problem = reading.take(bytes.length)
    if (problem !== undefined) return finish(problem)
    if (first === undefined) first = bytes
    else {
      if (buffer === undefined) (buffer = createByteBuffer(reading.maxBytes)).append(first)
      buffer.append(bytes)
    }
    if (timer === undefined && !(reading.size >= announced)) startTimer()
  }

  function startTimer(): void {
    timer = afterMs(limits.bodyMs, () => finish(reading.late()))
  }

  function finish(result: unknown): void {
    if (finished) return
    finished = true
    clearTimeout(timer)
    first = buffer = undefined
    if (typeof result !== 'string') reading.end()
    if (result !== undefined) done(result)
  }

  function decode(): string | McpError {
    const bytes = buffer?.view() ?? first ?? NO_BYTES
    const problem = decodeProblem(service, limits, bytes.length)
    if (problem !== undefined) return problem
    if (!isUtf8(bytes)) return mcpError(PARSE_FAILED, {})
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  }
}

/** What is known of a body before it is read: its text if it is empty, or why it cannot be read. */
function stateOf(body: Readable, isPassed: boolean): string | McpError | undefined {
  // A stream that was already read emits neither its data nor `end` again.
  if (body.readableDidRead) return bodyRead()
  if (body.readableEnded) return ''
  if (!isPassed || !body.destroyed) return undefined
  return body.errored === null ? bodyRead() : mcpError(BODY_BROKEN, {}, { cause: body.errored })
}

/** Stops a stream that a framework made of a request, and lets the rest of the request come in without it. */
function discard(request: IncomingMessage, passed: Readable): void {
  request.unpipe()
  request.resume()
  passed.destroy()
}
