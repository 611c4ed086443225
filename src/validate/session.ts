import { setTimeout as sleep } from 'node:timers/promises'
import type { Revision } from '../protocol/revisions.ts'
import { encodedHeader } from './header-value.ts'
import { isRequest, isResponse, member, type Message, type Received } from './message.ts'
import { HttpWire } from './wire-http.ts'
import { isResponseTo, type HttpReply, type SendOptions, type Wire } from './wire.ts'

export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
export const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

/** How long to wait for an answer that may not come, and how long after the answer to a later request or a refusal. */
const [SILENCE_MS, AFTER_MS] = [2_000, 250]

export const OUR_INFO = { name: 'pierhead-validator', version: '0.1.0' }

/** The answer to a request. */
export interface Reply {
  readonly id: unknown
  /** The response; undefined if none came. */
  readonly message: Message | undefined
  readonly result: Message | undefined
  readonly error: Message | undefined
  /** What came between the request and its response on the same stream. */
  readonly before: readonly Received[]
  readonly received: Received | undefined
  /** The reply over HTTP. */
  readonly http: HttpReply | undefined
  /** Why there is no response. */
  readonly problem: string | undefined
}

export interface RequestOptions extends SendOptions {
  readonly id?: unknown
  readonly ms?: number | undefined
  /** Members of `_meta` besides the usual ones; undefined removes a usual one. */
  readonly meta?: Message | undefined
  /** The capabilities that we declare for this request, at 2026-07-28. Default: those of the session. */
  readonly capabilities?: Message | undefined
}

export interface SessionOptions {
  readonly revision: Revision
  readonly capabilities: Message
  readonly ms: number
  /** Answers a request of the server. Undefined leaves it unanswered. */
  readonly answer?: ((method: string, params: unknown) => Message | undefined) | undefined
}

/** The most questions of a peer that are answered in a conversation. */
const MOST_ANSWERS = 1_000

/** A conversation at one revision. It sends what the revision wants, and everything can be changed for a check. */
export class Session {
  readonly wire: Wire
  readonly revision: Revision
  readonly capabilities: Message
  /** The result of `initialize`, or of `server/discover` at 2026-07-28. */
  greeting: Message | undefined
  /** The reply to the greeting. */
  first: Reply | undefined
  /** How long to wait for an answer. */
  readonly ms: number
  readonly #answer: SessionOptions['answer']
  #nextId = 1
  #answered = 0

  constructor(wire: Wire, { revision, capabilities, ms, answer }: SessionOptions) {
    this.wire = wire
    this.revision = revision
    this.capabilities = capabilities
    this.ms = ms
    this.#answer = answer
    wire.onMessage = (message) => {
      if (isRequest(message) && !isResponse(message)) void this.#reply(message)
    }
  }

  get isModern(): boolean {
    return this.revision === '2026-07-28'
  }

  /** Greets the server as the revision wants it. */
  async greet(): Promise<Reply> {
    if (this.isModern) {
      this.first = await this.request('server/discover')
      this.greeting = this.first.result
      return this.first
    }
    this.first = await this.request('initialize', {
      protocolVersion: this.revision,
      capabilities: this.capabilities,
      clientInfo: OUR_INFO,
    })
    this.greeting = this.first.result
    if (this.wire instanceof HttpWire) {
      const id = this.first.http?.headers['mcp-session-id']
      if (id !== undefined) this.wire.more['mcp-session-id'] = id
      if (this.revision >= '2025-06-18') this.wire.more['mcp-protocol-version'] = this.revision
    }
    if (this.greeting !== undefined) await this.notify('notifications/initialized')
    return this.first
  }

  /** An id that was not used before. */
  newId(): number {
    return this.#nextId++
  }

  /** A request as the revision wants it. */
  requestOf(method: string, params: Message | undefined, options: RequestOptions = {}): Message {
    const id = Object.hasOwn(options, 'id') ? options.id : this.newId()
    const meta = { ...(this.isModern && this.#envelope(options.capabilities)), ...options.meta }
    const given = Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined))
    const old = member(params, '_meta') as Message | undefined
    const whole =
      Object.keys(given).length > 0 || this.isModern ? { ...params, _meta: { ...given, ...old } } : params
    return { jsonrpc: '2.0', id, method, ...(whole !== undefined && { params: whole }) }
  }

  #envelope(capabilities: Message = this.capabilities): Message {
    return {
      [PROTOCOL_VERSION]: this.revision,
      [CLIENT_CAPABILITIES]: capabilities,
      [CLIENT_INFO]: OUR_INFO,
    }
  }

  /** The headers that a message has over HTTP at 2026-07-28. */
  headersOf(message: Message): Readonly<{ [name: string]: string }> {
    if (!this.isModern || !(this.wire instanceof HttpWire)) return {}
    const method = String(message['method'])
    const key = NAMED[method]
    const name = key === undefined ? undefined : member(message, 'params', key)
    return {
      'mcp-protocol-version': this.revision,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': encodedHeader(name) }),
    }
  }

  /** Sends a request and waits for its response. Never throws: what went wrong is in the reply. */
  async request(method: string, params?: Message, options: RequestOptions = {}): Promise<Reply> {
    return this.exchange(this.requestOf(method, params, options), options)
  }

  /** The first thing received that matches. Gives up shortly after the answer to a further request: most servers answer in turn. */
  async waitBriefly(matches: (received: Received) => boolean, from: number): Promise<Received | undefined> {
    const found = this.wire.wait(matches, { from, ms: Math.min(this.ms, SILENCE_MS) })
    if (this.wire instanceof HttpWire) return found
    const fence = this.request(this.isModern ? 'server/discover' : 'ping').then(() => sleep(AFTER_MS))
    await Promise.race([found, fence])
    return this.wire.wait(matches, { from, ms: 0 })
  }

  /** Sends a message with an id as it is, and waits for its response. */
  async exchange(message: Message, { headers, ms = this.ms }: RequestOptions = {}): Promise<Reply> {
    const id = message['id']
    const from = this.wire.trace.mark
    let http: HttpReply | undefined
    try {
      http = await this.wire.send(JSON.stringify(message), {
        headers: { ...this.headersOf(message), ...headers },
      })
    } catch (error) {
      return { ...NOTHING, id, problem: (error as Error).message }
    }
    // Without a stream nothing more can come over HTTP; without a body, nothing will.
    const isOver = this.wire instanceof HttpWire && http !== undefined && !http.isStream
    // Over HTTP+SSE the response comes on a stream of its own, but hardly to a request that was refused.
    const isRefused = http !== undefined && http.status >= 400
    const most = isOver ? 0 : isRefused ? Math.min(ms, AFTER_MS) : ms
    const received = await this.wire.wait(isResponseTo(id), { from, ms: most })
    const refused = received ?? this.wire.received.find((one) => isRefusal(one, http))
    return replyOf({ id, received: refused, http, from, wire: this.wire, ms })
  }

  async notify(method: string, params?: Message): Promise<HttpReply | undefined> {
    const meta = this.isModern ? { _meta: this.#envelope() } : undefined
    const whole = params === undefined && meta === undefined ? undefined : { ...params, ...meta }
    const message = { jsonrpc: '2.0', method, ...(whole !== undefined && { params: whole }) }
    return this.wire
      .send(JSON.stringify(message), { headers: this.headersOf(message) })
      .catch(() => undefined)
  }

  async #reply({ id, method, params }: Message): Promise<void> {
    if (++this.#answered > MOST_ANSWERS) return
    const result = method === 'ping' ? {} : this.#answer?.(String(method), params)
    const message =
      result === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
        : { jsonrpc: '2.0', id, result }
    await this.wire.send(JSON.stringify(message)).catch(() => undefined)
  }

  /** Forgets what the peer said, which may be large. */
  forget(): void {
    this.first = undefined
    this.greeting = undefined
  }

  /** Leaves as a well-behaved client does. */
  async close(): Promise<void> {
    if (this.wire instanceof HttpWire && this.wire.more['mcp-session-id'] !== undefined)
      await this.wire.call('DELETE', { ...this.wire.more }).catch(() => undefined)
    await this.wire.close()
  }
}

/** The parameter that `Mcp-Name` repeats. */
const NAMED: Readonly<{ [method: string]: string }> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

const NOTHING: Reply = {
  id: undefined,
  message: undefined,
  result: undefined,
  error: undefined,
  before: [],
  received: undefined,
  http: undefined,
  problem: undefined,
}

/** Whether something is the error of a refused POST. Over HTTP it needs no id: a server may refuse a request before it reads the body. */
function isRefusal({ stream, messages }: Received, http: HttpReply | undefined): boolean {
  return http !== undefined && http.status >= 400 && stream === http.stream && messages.some(isErrorWithoutId)
}

function isErrorWithoutId(message: Message): boolean {
  return isResponse(message) && Object.hasOwn(message, 'error') && (message['id'] ?? null) === null
}

interface ReplyParts {
  readonly id: unknown
  readonly received: Received | undefined
  readonly http: HttpReply | undefined
  readonly from: number
  readonly wire: Wire
  readonly ms: number
}

function replyOf({ id, received, http, from, wire, ms }: ReplyParts): Reply {
  const message =
    received?.messages.find((one) => one['id'] === id && one['method'] === undefined) ??
    received?.messages.find(isErrorWithoutId)
  const result = member(message, 'result')
  const error = member(message, 'error')
  const before = wire.received.filter(
    ({ at, stream }) =>
      at >= from && (received === undefined || (at < received.at && stream === received.stream)),
  )
  const problem =
    message !== undefined
      ? undefined
      : (wire.ended ??
        (http === undefined ? `no response within ${ms} ms` : `no response, but HTTP ${http.status}`))
  return {
    id,
    message,
    result: typeof result === 'object' && result !== null ? (result as Message) : undefined,
    error: typeof error === 'object' && error !== null ? (error as Message) : undefined,
    before,
    received,
    http,
    problem,
  }
}
