import { afterRun } from '../errors/after-run.ts'
import { ID_IN_USE, ID_TOO_LONG } from '../errors/limits.ts'
import { Bag } from '../base/bag.ts'
import { LONGEST_MS } from '../base/duration.ts'
import { textBytes } from '../base/weight.ts'
import { McpError, mcpError } from '../errors/error.ts'
import { CONNECTION_CLOSED } from '../errors/rpc.ts'
import { ToolError, toMcpError } from '../errors/tool-error.ts'
import { whereOf } from '../errors/where.ts'
import { idText, type RequestId } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { answerBatch, withinRoom, type Batch } from './batch.ts'
import { anonymousNetwork, shuttingDown, type Auth, type Call } from './call.ts'
import { isLong, LONG_ID, starting, type CallTable } from './call-table.ts'
import type { Result } from './dispatch.ts'
import type { Turn } from './load.ts'
import { mask } from './mask.ts'
import { outcomeOf, type Observed, type RejectedRequest } from './observer.ts'
import type { Service } from './service.ts'
import { checkTokens } from './tokens.ts'
import { SMALL_ANSWER, weightOf } from './weight.ts'

const LONG_HINT = 'Use a shorter id: several requests with longer ones are unanswered.'

/** One request as its transport sees it: whose it is, and what to send for each way it can end. */
export interface Responder<Out, Encoded extends Sized> {
  /** Requests of one caller count together. Undefined when the caller is unknown. */
  readonly caller: unknown
  /** The size of the message in characters. */
  readonly size: number
  /** Whether it is part of a batch, which counts as one message. */
  readonly isInBatch: boolean
  /** The requests whose ids must differ from this one's; undefined where ids may repeat. */
  readonly calls: CallTable | undefined
  /** Encodes a result; throws when that is impossible. */
  encode(call: Call, result: Result): Encoded
  result(call: Call, encoded: Encoded): Out
  error(call: Call, error: McpError): Out
  /** The client no longer wants the response. */
  cancelled(call: Call): Out
  /** The response comes later. */
  pending(call: Call): Pending<Out>
}

/** What a batch says about the message that is being taken. */
interface Member {
  /** The reason why all requests of the batch are rejected. */
  readonly refusal: McpError | undefined
  /** Set if the client cancelled the request before it began. */
  readonly cancelled: McpError | undefined
}

/** A response that comes later. */
export interface Pending<Out> {
  /** What the transport has until then: a promise, or nothing to send. */
  readonly promise: Out | Promise<Out>
  readonly resolve: (out: Out) => void
  /** No response can be sent. */
  readonly reject: (error: unknown) => void
}

/** An unanswered request. */
interface Running<Out, Encoded extends Sized> {
  readonly call: Call
  readonly responder: Responder<Out, Encoded>
  readonly observed: Observed | undefined
  readonly pending: Pending<Out>
  readonly caller: unknown
  /** The estimated size of its message in memory. */
  readonly bytes: number
}

/** An encoded result, which tells its size in characters. */
interface Sized {
  readonly length: number
}

/**
 * The lifecycle of requests on one transport: each is admitted, queued or rejected, then run, tracked, cancelled if the
 * client asks, and counted; `drain` waits for them all.
 */
export class InFlight<Out, Encoded extends Sized> {
  readonly #service: Service
  readonly #limits: Limits
  readonly #running = new Bag<Running<Out, Encoded>>()
  /** The number of finished responses that observers delay. */
  #delayed = 0
  /** Batches that are not answered. */
  #batches = 0
  /** Set while a message of a batch is taken that arrived before the server began to close. */
  #member: Member | undefined
  /** Whether the rest of a batch is rejected, too. */
  #rejectsAll = false
  #closing = false
  #onIdle: (() => void) | undefined
  #drained: Promise<void> | undefined
  closingError: () => McpError = shuttingDown
  constructor(service: Service, limits: Limits) {
    this.#service = service
    this.#limits = limits
  }

  /** The number of unanswered requests. */
  get size(): number {
    return this.#running.size
  }

  /** Whether new messages are rejected. */
  get closing(): boolean {
    return this.#closing
  }

  /** Whether requests are rejected because the server closes. The rest of a batch that arrived earlier is still admitted. */
  get rejects(): boolean {
    return this.#closing && (this.#rejectsAll || this.#member === undefined)
  }

  /** Whether there is a batch that is not answered. */
  get isInBatch(): boolean {
    return this.#batches > 0
  }

  /** Answers the messages of a batch. A server that closes waits for it. */
  batch(batch: Batch<Out>): Out[] | Promise<Out[]> {
    const isLate = this.#closing
    const refusal = this.#service.load.refusalFor(batch.size, this.#limits, batch)
    this.#batches++
    const take = withinRoom(batch, this.#limits, (member, cancelled) => {
      this.#member = isLate ? undefined : { refusal, cancelled }
      const out = batch.take(member)
      this.#member = undefined
      return out
    })
    const outs = answerBatch(batch, this.#service.load, take)
    if (outs instanceof Promise) return outs.finally(() => this.#endBatch())
    this.#endBatch()
    return outs
  }

  #endBatch(): void {
    this.#batches--
    if (this.#isIdle) this.#onIdle?.()
  }

  /** Answers a request. Stays synchronous when its handler does. */
  run(call: Call, responder: Responder<Out, Encoded>): Out | Promise<Out> {
    const { calls } = responder
    const observed = this.#service.observers.begin(call, responder)
    const outer = starting.now
    try {
      const turn = this.#admit(call, responder)
      if (calls !== undefined) starting.now = { call, calls, outer }
      const { load } = this.#service
      const result = turn === undefined ? this.#service.answer(call) : load.inTurn(turn, this.#limits)
      if (!(result instanceof Promise)) return this.#succeed(call, result, responder, observed)
      return this.#track(call, result, responder, observed, turn)
    } catch (thrown) {
      return this.#fail(call, thrown, responder, observed)
    } finally {
      starting.now = outer
    }
  }

  /** Rejects a request that did not become a call. */
  rejectRequest(
    thrown: unknown,
    request: RejectedRequest,
    reply: (error: McpError) => Out,
  ): Out | Promise<Out> {
    const error = this.#toError(thrown)
    return this.#after(this.#service.observers.rejected(error, request), () => reply(error))
  }

  /** The error to send for something that is not a request. */
  reject(thrown: unknown): McpError {
    const error = this.#toError(thrown)
    void this.#service.observers.rejected(error)
    return error
  }

  /** Rejects new requests from now on. */
  rejectFurther(): void {
    this.#closing = true
    this.#rejectsAll = true
  }

  /** Rejects new requests, asks long-lived ones to end, and waits up to `limitMs` until all are answered. */
  drain(limitMs: number): Promise<void> {
    this.#closing = true
    for (const { call } of this.#running) call.endIfLasting()
    return (this.#drained ??= this.#waitUntilIdle(limitMs))
  }

  /** Answers the remaining requests with the error that the server is closing, and stops their handlers. */
  abortAll(): void {
    this.#rejectsAll = true
    for (const running of this.#running) {
      const error = this.closingError()
      running.call.abort(error)
      this.#end(running, error)
    }
  }

  /** Cancels the requests of some callers. */
  cancelOf(concerns: (auth: Auth | undefined) => boolean): void {
    for (const { call } of this.#running)
      if (concerns(call.source.auth) || concerns(call.source.certified))
        call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
  }

  /** Throws when the request is rejected; returns what to queue if it must wait. */
  #admit(call: Call, responder: Responder<Out, Encoded>): Turn | undefined {
    if (this.rejects) throw this.closingError()
    const { load } = this.#service
    const { caller, calls } = responder
    if (this.#member !== undefined) this.#admitMember(call, this.#member)
    if (load.check !== undefined) load.check(caller)
    load.checkCaller(caller, this.#limits.inFlight)
    call.caller = caller
    const network = anonymousNetwork(call.source)
    if (load.bytes > 0 && !responder.isInBatch) {
      const refusal = load.refusalFor(responder.size, this.#limits, { caller, network })
      if (refusal !== undefined) throw refusal
    }
    checkTokens(call, this.#limits.tokenLength)
    const id = call.id as RequestId
    if (calls?.hasRoomFor(id) === false) throw mcpError(ID_TOO_LONG, { limit: LONG_ID }, { hint: LONG_HINT })
    if (calls?.has(id) === true) throw mcpError(ID_IN_USE, { id: idText(id).slice(0, 128) })
    const mustWait = load.waiting > 0 || !load.hasPlace(caller, network, this.#limits.allInFlight)
    return mustWait ? this.#toTurn(call, responder) : undefined
  }

  /** Rejects a request that is already cancelled, or whose batch is too large. */
  #admitMember(call: Call, { refusal, cancelled }: Member): void {
    // Requests that its handler sends in the same process are not part of the batch.
    this.#member = undefined
    if (cancelled !== undefined) call.cancel(cancelled)
    const reason = cancelled ?? refusal
    if (reason !== undefined) throw reason
  }

  #toTurn(call: Call, responder: Responder<Out, Encoded>): Turn {
    const answer = (): Result | Promise<Result> => this.#service.answer(call)
    const network = anonymousNetwork(call.source)
    return { call, caller: responder.caller, network, bytes: this.#weigh(call, responder), answer }
  }

  #weigh({ id, params }: Call, { isInBatch, size }: Responder<Out, Encoded>): number {
    if (isInBatch) return 0
    return weightOf(params, size) + (isLong(id) ? textBytes(id) : 0)
  }

  /** Tracks a request until its result settles or `abortAll` ends it. */
  #track(
    call: Call,
    result: Promise<Result>,
    responder: Responder<Out, Encoded>,
    observed: Observed | undefined,
    turn: Turn | undefined,
  ): Out | Promise<Out> {
    const { caller } = responder
    const bytes = turn === undefined ? this.#weigh(call, responder) : turn.bytes
    // A queued request is counted when it starts.
    if (turn === undefined) this.#service.load.enter(call, caller, bytes, anonymousNetwork(call.source))
    const pending = responder.pending(call)
    const running = { call, responder, observed, pending, caller, bytes }
    responder.calls?.add(call)
    this.#running.add(running)
    call.source.lifetime?.hold(
      () => call.ended,
      () => {
        call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
        this.#end(running, undefined)
      },
    )
    result.then(
      (value) => this.#answerResult(running, value),
      (thrown: unknown) => this.#end(running, thrown),
    )
    return pending.promise
  }

  #answerResult(running: Running<Out, Encoded>, result: Result): void {
    if (!this.#running.delete(running)) return
    let out: Out | Promise<Out>
    try {
      out = this.#succeed(running.call, result, running.responder, running.observed, running)
    } catch (thrown) {
      return this.#answerError(running, thrown)
    }
    this.#respond(running, out)
  }

  #end(running: Running<Out, Encoded>, thrown: unknown): void {
    if (this.#running.delete(running)) this.#answerError(running, thrown)
  }

  #answerError(running: Running<Out, Encoded>, thrown: unknown): void {
    let out: Out | Promise<Out>
    try {
      out = this.#fail(running.call, thrown, running.responder, running.observed)
    } catch (broken) {
      return this.#giveUp(running, broken)
    }
    this.#respond(running, out)
  }

  #respond(running: Running<Out, Encoded>, out: Out | Promise<Out>): void {
    if (out instanceof Promise) {
      const giveUp = (broken: unknown): void => this.#giveUp(running, broken)
      return void out.then((late) => this.#respond(running, late), giveUp)
    }
    this.#leave(running)
    running.pending.resolve(out)
  }

  #giveUp(running: Running<Out, Encoded>, broken: unknown): void {
    this.#leave(running)
    running.pending.reject(broken)
  }

  #leave({ call, responder, caller, bytes }: Running<Out, Encoded>): void {
    this.#service.load.leave(call, caller, bytes)
    responder.calls?.delete(call)
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle()
  }

  #succeed(
    call: Call,
    result: Result,
    responder: Responder<Out, Encoded>,
    observed: Observed | undefined,
    running?: Running<Out, Encoded>,
  ): Out | Promise<Out> {
    if (call.cancelled) return this.#fail(call, undefined, responder, observed)
    const encoded = responder.encode(call, result)
    // Since the request was admitted, its caller may have left too much unread. A response that is not sent at once counts too.
    const isLater = running?.pending.promise instanceof Promise
    if (running !== undefined && encoded.length > SMALL_ANSWER)
      this.#service.load.check?.(running.caller, isLater ? encoded.length : 0)
    call.end()
    if (observed === undefined) return responder.result(call, encoded)
    const wait = observed.end({ outcome: outcomeOf(result), size: encoded.length })
    return this.#after(wait, () => responder.result(call, encoded))
  }

  #fail(
    call: Call,
    thrown: unknown,
    responder: Responder<Out, Encoded>,
    observed: Observed | undefined,
  ): Out | Promise<Out> {
    call.end()
    if (call.cancelled) {
      if (observed === undefined) return responder.cancelled(call)
      return this.#after(observed.end({ outcome: 'cancelled' }), () => responder.cancelled(call))
    }
    const known = this.#toError(thrown, call)
    const error = call.hasRun ? afterRun(known) : known
    this.#service.observers.count(error.kind)
    if (observed === undefined) return responder.error(call, error)
    return this.#after(observed.end({ outcome: 'error', error }), () => responder.error(call, error))
  }

  /** Responds once the observers have finished. */
  #after(wait: Promise<void> | undefined, respond: () => Out): Out | Promise<Out> {
    if (wait === undefined) return respond()
    this.#delayed++
    return wait.then(respond).finally(() => {
      this.#delayed--
      if (this.#isIdle) this.#onIdle?.()
    })
  }

  #waitUntilIdle(limitMs: number): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = limitMs > LONGEST_MS ? undefined : setTimeout(resolve, limitMs)
      // The last response is sent in the turn in which the last request ends.
      this.#onIdle = () => setTimeout(() => (clearTimeout(timer), resolve()))
    })
  }

  get #isIdle(): boolean {
    return this.#running.size === 0 && this.#delayed === 0 && this.#batches === 0
  }

  /** Converts anything thrown to an error for the peer. Errors thrown on purpose are sent; others are masked and reported. */
  #toError(thrown: unknown, call?: Call): McpError {
    // An error of a client that the handler used may contain secrets of that connection.
    if (thrown instanceof McpError && whereOf(thrown) !== 'local') return thrown
    if (thrown instanceof ToolError) return toMcpError(thrown)
    const facts = call === undefined ? {} : this.#service.observers.nameOf(call)
    return mask(this.#service, thrown, { what: 'a request', call, facts })
  }
}
