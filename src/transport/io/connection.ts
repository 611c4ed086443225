import { Deferred } from '../../base/deferred.ts'
import { TOO_MANY_INVALID } from '../../errors/limits.ts'
import { toErrorObject } from '../../errors/reply.ts'
import { mcpError, type McpError } from '../../errors/error.ts'
import { NOT_INITIALIZED } from '../../errors/server.ts'
import { withoutStacks } from '../../errors/stacks.ts'
import type { JsonObject, RequestId, Message } from '../../protocol/jsonrpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import {
  anonymousNetwork,
  Call,
  ownerOf,
  type Channel,
  type RequestSource,
  type Peer,
} from '../../rpc/call.ts'
import { CallTable } from '../../rpc/call-table.ts'
import { InFlight, type Pending, type Responder } from '../../rpc/in-flight.ts'
import type { Service } from '../../rpc/service.ts'
import { Session } from '../../rpc/session.ts'
import { hasEnvelope, decodeEnvelope } from '../../wire/2026-07-28/decode.ts'
import { checkBatch } from '../../wire/batch.ts'
import { checkId } from '../../wire/id.ts'
import { readBounded } from '../../wire/bounds.ts'
import { askedId } from './asked-id.ts'
import { budgetsOf } from './budgets.ts'
import { decodeProblem, parseProblem } from './heap-guard.ts'
import { NO_PARAMS, readableId, readMessage } from '../../wire/message.ts'
import { replyText, encodeError, encodeReply } from '../../wire/reply.ts'
import { decodeAnswer, encodeNotification, encodeRequest, encodeResult } from '../../wire/encode.ts'

export interface ConnectionOptions {
  readonly service: Service
  readonly limits: Limits
  readonly source: RequestSource
  /** The id of its session, if the transport has one. */
  readonly id?: string
  /** Writes one message. `request` is the one that it belongs to, if it is not a response. */
  send(text: string, request?: RequestId): void
  /** Whether the client reads too slowly; it then does not get dispensable notifications. */
  isBehind?(): boolean
  /** Called when too many messages in a row were invalid, once the client got an error about it. Without it, any number is answered. */
  onInvalid?(): void
  /** Closes the connection because others need the memory that its session takes. Without it, that never happens. */
  evict?(): void
}

/** The other nodes that serve the same client. */
interface Elsewhere {
  settle(answer: Message): void
  cancel(params: JsonObject): void
  /** Sends a notification that does not belong to a request. `position` is that of the change it reports. */
  notify(text: string, position: number | undefined): void
}

const DISPENSABLE: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message'])

type Reply = string | undefined

/**
 * One client on a transport that carries messages both ways: texts in, texts out. Requests of different revisions may be
 * mixed; those of revisions with a handshake share one session, the others are independent.
 */
export class Connection implements Channel, Responder<Reply, string> {
  readonly #service: Service
  readonly #limits: Limits
  /** The source of messages received from now on. */
  source: RequestSource
  /** Passes notifications on, and answers and cancellations of requests that do not run here; undefined if there are no other nodes. */
  elsewhere: Elsewhere | undefined = undefined
  readonly #send: ConnectionOptions['send']
  readonly #read: typeof readBounded
  readonly #isBehind: () => boolean
  readonly #session: Session
  readonly #inFlight: InFlight<Reply, string>
  /** Its unanswered requests. */
  readonly calls: CallTable = new CallTable()
  /** The size of the message that is being received, in characters. */
  size = 0
  /** Whether a message of a batch is being taken. */
  isInBatch = false
  #isClosed = false
  /** How many of the last messages were invalid. */
  #invalid = 0
  readonly #onInvalid: (() => void) | undefined
  /** Created by the first asynchronous request: most connected clients are idle. */
  #late: Pending<Reply> | undefined

  constructor(options: ConnectionOptions) {
    const { service, limits, source, id, send, isBehind = () => false, onInvalid, evict } = options
    this.#service = service
    this.#limits = limits
    this.#inFlight = new InFlight(service, limits)
    this.source = source
    this.#send = send
    this.#read = (service.dialects['2025-11-25'].adapter?.read ?? readBounded) as typeof readBounded
    this.#isBehind = isBehind
    this.#onInvalid = onInvalid
    this.#session = new Session(service.dialects, (...notice) => this.#notify(...notice), id)
    if (evict !== undefined) this.#session.evict = (_, isLarge) => isLarge && this.#evict(evict)
  }

  /** The requests of an authenticated caller count together, whatever connection they use. */
  get caller(): unknown {
    const { auth } = this.source
    return auth === undefined ? this : ownerOf(auth)
  }

  /** The state of the revisions with a handshake. */
  get session(): Session {
    return this.#session
  }

  /** Whether the client is waiting for a response. */
  get isBusy(): boolean {
    return this.calls.size > 0 || this.#inFlight.isInBatch
  }

  /** The error for a message of so many bytes if there may be no room to decode it. */
  decodeProblem(bytes: number): McpError | undefined {
    return decodeProblem(this.#service, this.#limits, bytes)
  }

  /** Rejects a message of so many bytes if there may be no room to decode it, and returns whether it did. */
  sheds(bytes: number, head: () => string): boolean {
    const problem = this.decodeProblem(bytes)
    if (problem !== undefined) this.reject(problem, askedId(head()))
    return problem !== undefined
  }

  /** Receives one message or batch from the client; false if it is neither, and undefined if there may be no room to find out. */
  receive(text: string): boolean | undefined {
    if (this.#isClosed) return true
    let reply: Reply | Promise<Reply>
    this.size = text.length
    try {
      const shed = parseProblem(this.#service, this.#limits, text)
      if (shed !== undefined) {
        this.reject(shed, askedId(text))
        return undefined
      }
      const message = this.#invalid === 0 ? this.#read(text, this.#limits) : this.#readCheaply(text)
      reply = Array.isArray(message) ? this.#takeBatch(message) : this.#take(message as Message)
    } catch (thrown) {
      this.reject(thrown)
      return false
    }
    if (reply instanceof Promise) {
      const { resolve, reject } = this.#sending
      void reply.then(resolve, reject)
    } else this.#reply(reply)
    return true
  }

  /** Sends an error for something that could not be read as a message, with its id if that is known. */
  reject(thrown: unknown, id: RequestId | undefined = readableId(thrown)): void {
    this.#reply(this.#rejection(thrown, id))
  }

  #rejection(thrown: unknown, id: RequestId | undefined): string {
    this.#invalid++
    return this.#errorText(id, this.#inFlight.reject(thrown), this.#session)
  }

  /** Gives up on a client that sends nothing but invalid messages. */
  #checkInvalid(): void {
    const limit = this.#limits.invalidMessages
    if (this.#onInvalid === undefined || this.#invalid < limit) return
    this.#send(this.#rejection(mcpError(TOO_MANY_INVALID, { limit }), undefined))
    this.#invalid = Number.NEGATIVE_INFINITY
    this.#onInvalid()
  }

  /** Reads a message after an invalid one, which is perhaps one of many: most of what an invalid message costs is the stack of its error. */
  #readCheaply(text: string): ReturnType<typeof readBounded> {
    return withoutStacks(() => this.#read(text, this.#limits))
  }

  emit(method: string, params: JsonObject, peer: Peer, call?: Call): void {
    if (!this.#drops(method, params)) this.#send(encodeNotification(method, params, peer.dialect), call?.id)
  }

  #notify(method: string, params: JsonObject, position?: number): void {
    if (this.elsewhere === undefined) this.emit(method, params, this.#session)
    else if (!this.#drops(method, params))
      this.elsewhere.notify(encodeNotification(method, params, this.#session.dialect), position)
  }

  /** Whether a notification is left out because the client reads too slowly. */
  #drops(method: string, params: JsonObject): boolean {
    // Progress with content may be the only way the client gets that content before the end.
    if (!DISPENSABLE.has(method) || params['_meta'] !== undefined || !this.#isBehind()) return false
    this.#service.observers.count('notice_dropped')
    return true
  }

  get isBehind(): boolean {
    return this.#isBehind() || !budgetsOf(this.#service, this.#limits).write.hasRoom(this.caller)
  }

  async ask(method: string, params: JsonObject, call: Call): Promise<JsonObject> {
    const { dialect } = this.#session
    const { allInFlight, questionMs } = this.#limits
    const answer = await this.#service.load.whileAsking(call, allInFlight, () =>
      this.#session.pending.ask(
        method,
        (id) => this.#send(encodeRequest(id, method, params, dialect), call.id),
        {
          signal: call.askingSignal,
          timeoutMs: questionMs,
          cancel: (requestId) => this.emit('notifications/cancelled', { requestId }, this.#session),
        },
      ),
    )
    return decodeAnswer(method, answer, params, dialect)
  }

  rejectFurther(): void {
    this.#inFlight.rejectFurther()
  }

  /** Fails the requests sent to the client because it will send no more responses. */
  rejectPending(): void {
    this.#session.pending.end()
  }

  /** Rejects new requests and waits up to `limitMs` until the others are answered. */
  drain(limitMs: number): Promise<void> {
    return this.#inFlight.drain(limitMs)
  }

  /** Answers the remaining requests with the error that the server is closing, and stops their handlers. */
  abortAll(): void {
    this.#inFlight.abortAll()
  }

  /** Cancels all requests because the client disconnected; nothing more is sent. */
  close(): void {
    this.#isClosed = true
    this.calls.close()
    this.#session.close()
  }

  /** Closes the connection unless a request is running. */
  #evict(evict: () => void): boolean {
    if (this.isBusy) return false
    this.#service.observers.count('session_evicted')
    this.close()
    evict()
    return true
  }

  #reply(text: Reply): void {
    if (text !== undefined) this.#send(text)
    if (this.#invalid > 0) this.#checkInvalid()
  }

  #takeBatch(members: readonly unknown[]): Reply | Promise<Reply> {
    checkBatch(members, this.#session.dialect, this.#limits.batch)
    const { source, size, caller, calls } = this
    const share = size / members.length
    const take = (member: unknown): Reply | Promise<Reply> => this.#takeMember(member, source, share)
    const replies = this.#inFlight.batch({
      members,
      size,
      caller,
      network: anonymousNetwork(source),
      calls,
      take,
      lengthOf: (reply) => reply?.length ?? 0,
      refuse: (id, error) => this.#errorText(id, this.#inFlight.reject(error), this.#session),
    })
    return replies instanceof Promise ? replies.then(toBatch) : toBatch(replies)
  }

  /** Takes one message of a batch. Other messages may have come since the batch did. */
  #takeMember(member: unknown, source: RequestSource, size: number): Reply | Promise<Reply> {
    if (this.#isClosed) return undefined
    const outer = { isInBatch: this.isInBatch, source: this.source, size: this.size }
    this.isInBatch = true
    this.source = source
    this.size = size
    try {
      return this.#take(this.#invalid === 0 ? readMessage(member) : withoutStacks(() => readMessage(member)))
    } catch (thrown) {
      return this.#rejection(thrown, readableId(thrown))
    } finally {
      this.isInBatch = outer.isInBatch
      this.source = outer.source
      this.size = outer.size
    }
  }

  #take(message: Message): Reply | Promise<Reply> {
    const { adapter } = this.#session.dialect
    const { id, method, params } = adapter === undefined ? message : adapter.decode(message)
    this.#invalid = 0
    if (method !== undefined && id !== undefined) {
      checkId(id, this.#limits.idLength)
      return this.#answer(id, method, params ?? NO_PARAMS)
    }
    if (method === undefined) this.#settle(message)
    else this.#note(method, params ?? NO_PARAMS)
    return undefined
  }

  #answer(id: RequestId, method: string, params: JsonObject): Reply | Promise<Reply> {
    let peer: Peer = this.#session
    try {
      if (hasEnvelope(params)) peer = decodeEnvelope(params, this.#service)
      else if (!this.#session.opened && !this.#isEarly(method))
        throw mcpError(NOT_INITIALIZED, { method: method.slice(0, 256) })
    } catch (thrown) {
      const reply = (error: McpError): Reply => this.#errorText(id, error, peer)
      return this.#inFlight.rejectRequest(thrown, { method, size: this.size, source: this.source }, reply)
    }
    const call = new Call(id, method, params, { peer, channel: this, source: this.source })
    return this.#inFlight.run(call, this)
  }

  /** Whether a request is allowed before the handshake. */
  #isEarly(method: string): boolean {
    return method === 'initialize' || (method === 'ping' && this.#session.dialect.earlyPing !== 'refused')
  }

  #note(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') return this.cancel(params)
    this.#service.notice(
      new Call(undefined, method, params, { peer: this.#session, channel: this, source: this.source }),
    )
  }

  #settle(answer: Message): void {
    if (!this.#session.pending.settle(answer)) this.elsewhere?.settle(answer)
  }

  cancel(params: JsonObject): void {
    if (!this.calls.cancel(params)) this.elsewhere?.cancel(params)
  }

  encode({ id, method, peer }: Call, result: JsonObject): string {
    const encoded = encodeResult(method, result, peer.dialect, this.#service.info)
    return replyText(encodeReply(id as RequestId, encoded))
  }

  result({ method, peer }: Call, text: string): Reply {
    const { adapter } = peer.dialect
    if (adapter !== undefined)
      adapter.afterAnswer(method, (notice) => this.emit(notice.method, notice.params, peer))
    return text
  }

  error({ id, peer }: Call, error: McpError): Reply {
    return this.#errorText(id, error, peer)
  }

  cancelled(): Reply {
    return undefined
  }

  pending(): Pending<Reply> {
    return this.isInBatch ? new Deferred() : this.#sending
  }

  /** Sends late responses as they come. */
  get #sending(): Pending<Reply> {
    return (this.#late ??= {
      promise: undefined,
      resolve: (text) => this.#reply(text),
      reject: (error) => this.#service.report('error', 'a response could not be encoded', { error }),
    })
  }

  #errorText(id: RequestId | undefined, error: McpError, peer: Peer): string {
    return encodeError(id, toErrorObject(error, peer.dialect), peer.dialect)
  }
}

function toBatch(replies: readonly Reply[]): Reply {
  const texts = replies.filter((reply) => reply !== undefined)
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}
