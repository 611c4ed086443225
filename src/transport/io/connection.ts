import { toErrorObject } from '../../errors/reply.ts'
import { mcpError } from '../../errors/error.ts'
import {
  CANCELLED,
  CONNECTION_CLOSED,
  ID_IN_USE,
  NOT_INITIALIZED,
  SHUTTING_DOWN,
  TOO_MANY_CALLS,
} from '../../errors/rpc.ts'
import { idText, type JsonObject, type RequestId } from '../../protocol/jsonrpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import { Call, type Channel, type RequestSource, type Peer } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { Session } from '../../rpc/session.ts'
import { hasEnvelope, decodeEnvelope } from '../../wire/2026-07-28/decode.ts'
import { checkBatch } from '../../wire/batch.ts'
import { checkId } from '../../wire/id.ts'
import { readBounded } from '../../wire/bounds.ts'
import { NO_PARAMS, readableId, readMessage, type Message } from '../../wire/message.ts'
import { replyText, encodeError, encodeReply } from '../../wire/reply.ts'
import {
  decodeAnswer,
  encodeNotification,
  encodeRequest,
  encodeResult,
  toPeerError,
} from '../../wire/encode.ts'

export interface ConnectionOptions {
  readonly service: Service
  readonly limits: Limits
  readonly source: RequestSource
  /** Writes one message. */
  send(text: string): void
  /** Whether the client is far behind with reading; then it misses what it can do without. */
  isBehind?(): boolean
}

const DISPENSABLE: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message'])

type Reply = string | undefined

/**
 * One client on a transport that carries messages both ways: texts in, texts out. Requests of every revision may be
 * mixed; those with a handshake share one session, the others stand alone.
 */
export class Connection implements Channel {
  readonly #service: Service
  readonly #limits: Limits
  /** Where what is received from now on comes from. */
  source: RequestSource
  readonly #send: (text: string) => void
  readonly #read: typeof readBounded
  readonly #isBehind: () => boolean
  readonly #session: Session
  /** The requests that take their time, by their id. */
  readonly #calls = new Map<string, Call>()
  /** The request whose handler has begun and not yet returned, during which a client in this process may speak. */
  #beginning: Call | undefined
  /** How large the message is that is being taken. */
  #size = 0
  #closing = false
  #idle: (() => void) | undefined

  constructor({ service, limits, source, send, isBehind = () => false }: ConnectionOptions) {
    this.#service = service
    this.#limits = limits
    this.source = source
    this.#send = send
    this.#read = (service.dialects['2025-11-25'].adapter?.read ?? readBounded) as typeof readBounded
    this.#isBehind = isBehind
    this.#session = new Session(service.dialects, (method, params) =>
      this.emit(method, params, this.#session),
    )
  }

  /** Whether the client waits for an answer. */
  get isBusy(): boolean {
    return this.#calls.size > 0
  }

  /** Takes one message, or a batch, from the client. */
  receive(text: string): void {
    let reply: Reply | Promise<Reply>
    this.#size = text.length
    try {
      const message = this.#read(text, this.#limits)
      reply = Array.isArray(message) ? this.#takeBatch(message) : this.#take(message as Message)
    } catch (thrown) {
      return this.refuse(thrown)
    }
    if (reply instanceof Promise) void reply.then((late) => this.#reply(late))
    else this.#reply(reply)
  }

  /** Answers something that could not be read as a message; under its id, where that is known. */
  refuse(thrown: unknown, id: RequestId | undefined = readableId(thrown)): void {
    this.#send(this.#errorText(id, thrown, this.#session))
  }

  emit(method: string, params: JsonObject, peer: Peer): void {
    // Progress that brings content is all that a client may have of it before the end.
    if (DISPENSABLE.has(method) && params['_meta'] === undefined && this.#isBehind())
      return this.#service.load.count('notice_dropped')
    this.#send(encodeNotification(method, params, peer.dialect))
  }

  async ask(method: string, params: JsonObject, call: Call): Promise<JsonObject> {
    const { dialect } = this.#session
    const answer = await this.#session.pending.ask(
      method,
      (id) => this.#send(encodeRequest(id, method, params, dialect)),
      {
        signal: call.signal,
        timeoutMs: this.#limits.questionMs,
        cancel: (requestId) => this.emit('notifications/cancelled', { requestId }, this.#session),
      },
    )
    return decodeAnswer(method, answer, params, dialect)
  }

  refuseFurther(): void {
    this.#closing = true
  }

  /** No more answers will come from the client: what waits for one fails. */
  rejectPending(): void {
    this.#session.pending.close()
  }

  /** Lets what is running finish and refuses what is new; resolves once nothing is being answered. */
  drained(): Promise<void> {
    this.#closing = true
    for (const call of this.#calls.values()) call.endIfLasting()
    return new Promise((resolve) => {
      if (this.#calls.size === 0) resolve()
      else this.#idle = () => setTimeout(resolve)
    })
  }

  /** The client is gone: what it asked for is cancelled and nothing more is sent. */
  close(): void {
    for (const call of this.#calls.values()) call.cancel(mcpError(CONNECTION_CLOSED, { method: call.method }))
    this.#session.close()
  }

  #reply(text: Reply): void {
    if (text !== undefined) this.#send(text)
  }

  #takeBatch(members: readonly unknown[]): Reply | Promise<Reply> {
    checkBatch(members, this.#session.dialect, this.#limits.batch)
    this.#size /= members.length
    const replies = members.map((member) => {
      try {
        return this.#take(readMessage(member))
      } catch (thrown) {
        return this.#errorText(readableId(thrown), thrown, this.#session)
      }
    })
    if (replies.some((reply) => reply instanceof Promise))
      return Promise.all(replies.map(async (reply) => reply)).then(joined)
    return joined(replies as readonly Reply[])
  }

  #take(message: Message): Reply | Promise<Reply> {
    const { adapter } = this.#session.dialect
    const { id, method, params } = adapter === undefined ? message : adapter.decode(message)
    if (method !== undefined && id !== undefined) {
      checkId(id, this.#limits.idLength)
      return this.#answer(id, method, params ?? NO_PARAMS)
    }
    if (method === undefined) this.#session.pending.settle(message)
    else this.#note(method, params ?? NO_PARAMS)
    return undefined
  }

  #answer(id: RequestId, method: string, params: JsonObject): Reply | Promise<Reply> {
    let peer: Peer = this.#session
    let mustWait = false
    try {
      if (hasEnvelope(params)) peer = decodeEnvelope(params, this.#service)
      else if (!this.#session.opened && !this.#isEarly(method)) {
        throw mcpError(NOT_INITIALIZED, { method: method.slice(0, 256) })
      }
      if (this.#closing) throw mcpError(SHUTTING_DOWN, {}, { retryAfterMs: 5000 })
      mustWait = this.#admit(id)
    } catch (thrown) {
      return this.#errorText(id, thrown, peer)
    }
    const call = new Call(id, method, params, { peer, channel: this, source: this.source })
    if (mustWait) return this.#answerInTurn(call)
    const outer = this.#beginning
    this.#beginning = call
    try {
      const result = this.#service.answer(call)
      if (result instanceof Promise) return this.#answerLater(call, result)
      return this.#end(call, this.#resultText(call, result))
    } catch (thrown) {
      return this.#end(call, this.#errorText(id, thrown, peer))
    } finally {
      this.#beginning = outer
    }
  }

  /** Whether a request is answered before the handshake. */
  #isEarly(method: string): boolean {
    return method === 'initialize' || (method === 'ping' && this.#session.dialect.earlyPing !== 'refused')
  }

  /** Refuses what would be one too many, or under an id that is waiting for its answer; tells whether it must wait. */
  #admit(id: RequestId): boolean {
    const { inFlight, allInFlight } = this.#limits
    if (this.#calls.size >= inFlight)
      throw mcpError(TOO_MANY_CALLS, { limit: inFlight }, { retryAfterMs: 1000 })
    if ((this.#calls.size > 0 || this.#beginning !== undefined) && this.#find(id) !== undefined)
      throw mcpError(ID_IN_USE, { id: idText(id).slice(0, 128) })
    const { load } = this.#service
    if (load.check !== undefined) load.check()
    return load.running >= allInFlight
  }

  #answerInTurn(call: Call): Promise<Reply> {
    const { load } = this.#service
    const turn = { call, caller: this, bytes: this.#size, answer: () => this.#service.answer(call) }
    return this.#answerLater(call, load.inTurn(turn, this.#limits), () => undefined)
  }

  async #answerLater(
    call: Call,
    result: Promise<JsonObject>,
    leave: () => void = this.#service.load.enter(call, this),
  ): Promise<Reply> {
    const id = call.id as RequestId
    this.#calls.set(idText(id), call)
    try {
      return this.#end(call, this.#resultText(call, await result))
    } catch (thrown) {
      return this.#end(call, call.cancelled ? undefined : this.#errorText(id, thrown, call.peer))
    } finally {
      leave()
      this.#calls.delete(idText(id))
      if (this.#calls.size === 0) this.#idle?.()
    }
  }

  #end(call: Call, reply: Reply): Reply {
    call.end()
    return call.cancelled ? undefined : reply
  }

  #note(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') return this.cancel(params)
    this.#service.notice(
      new Call(undefined, method, params, { peer: this.#session, channel: this, source: this.source }),
    )
  }

  #find(id: RequestId): Call | undefined {
    return this.#beginning?.id === id ? this.#beginning : this.#calls.get(idText(id))
  }

  cancel({ requestId, reason }: JsonObject): void {
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    const call = this.#find(requestId)
    if (call === undefined || call.method === 'initialize') return
    call.cancel(
      mcpError(CANCELLED, { reason: typeof reason === 'string' ? `: ${reason.slice(0, 256)}` : '' }),
    )
  }

  #resultText({ id, method, peer }: Call, result: JsonObject): string {
    const sealed = encodeResult(method, result, peer.dialect, this.#service.info)
    const { adapter } = peer.dialect
    if (adapter !== undefined)
      adapter.afterAnswer(method, (told) => this.emit(told.method, told.params, peer))
    return replyText(encodeReply(id as RequestId, sealed))
  }

  #errorText(id: RequestId | undefined, thrown: unknown, peer: Peer): string {
    const error = toPeerError(thrown, (reference, cause) =>
      this.#service.report('error', 'a request failed', { reference, error: cause }),
    )
    this.#service.load.count(error.kind)
    return encodeError(id, toErrorObject(error, peer.dialect), peer.dialect)
  }
}

function joined(replies: readonly Reply[]): Reply {
  const texts = replies.filter((reply) => reply !== undefined)
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}
