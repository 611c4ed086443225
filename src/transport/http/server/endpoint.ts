import { toErrorObject, toStatus } from '../../../errors/reply.ts'
import { BAD_PARAMS } from '../../../errors/wire.ts'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { BAD_ACCEPT, SESSION_REQUIRED } from '../../../errors/http.ts'
import { CONNECTION_CLOSED, OVERLOADED } from '../../../errors/rpc.ts'
import { ALREADY_INITIALIZED } from '../../../errors/server.ts'
import { SOON } from '../../../errors/retry-after.ts'
import type { JsonObject, RequestId, Message } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { MethodParams } from '../../../protocol/wire-adapter.ts'
import { LATEST } from '../../../protocol/revisions.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { Call, type Peer } from '../../../rpc/call.ts'
import { idOf } from '../../../rpc/call-table.ts'
import { InFlight } from '../../../rpc/in-flight.ts'
import type { Service } from '../../../rpc/service.ts'
import { hasEnvelope } from '../../../wire/2026-07-28/decode.ts'
import { checkBatch } from '../../../wire/batch.ts'
import { checkId } from '../../../wire/id.ts'
import { readBounded } from '../../../wire/bounds.ts'
import { NO_PARAMS, readableId, readMessage } from '../../../wire/message.ts'
import { encodeError, type Reply } from '../../../wire/reply.ts'
import { badVerb } from './bad-verb.ts'
import { answerBatch, partOf } from './batch.ts'
import { openRequest } from './envelope.ts'
import { withErrorHeaders } from './error-headers.ts'
import type { EventStream } from './event-stream.ts'
import type { Authentication } from './auth-method.ts'
import type { EndpointOptions } from './endpoint-options.ts'
import { checkCaller, createAuthenticate, isRevoked } from './authenticate.ts'
import { Exchange, toJson } from './exchange.ts'
import { createGuard, type Guard } from './guard.ts'
import { Listeners } from './listeners.ts'
import { checkHead, readAccept, readVersion } from './negotiate.ts'
import type { ExtraEndpoint, Headers, HttpHandler, HttpHead, HttpIn, HttpOut } from './parts.ts'
import type { Replicas } from './replicas.ts'
import { AcceptQueue } from '../../io/accept-queue.ts'
import { budgetsOf, checkUnsent } from '../../io/budgets.ts'
import { checkHeap, guardHeap, parseProblem } from '../../io/heap-guard.ts'
import { LoopMonitor } from '../../io/loop-monitor.ts'
import type { WritePool } from '../../io/write-budget.ts'
import { readTrust, type Trust } from './proxy.ts'
import { dropBody, HttpResponder, sizeOf } from './responder.ts'
import { openSessionStream } from './session-stream.ts'
import { Sessions, type HttpSession } from './sessions.ts'
import { statelessPeer } from './stateless.ts'
import { Sweeper } from './sweeper.ts'

/** One URL that serves every revision. It takes a request as plain parts and returns the reply. */
export class Endpoint implements HttpHandler {
  /** Handlers at other paths. */
  readonly extraEndpoints: ExtraEndpoint[] = []
  /** The server behind it. */
  readonly service: Service
  readonly guard: Guard
  readonly authenticate: HttpHandler['authenticate']
  /** Which proxies the adapters believe; undefined if none. */
  readonly trusts: Trust | undefined
  readonly sessions: Sessions
  readonly limits: Limits
  readonly #stateful: boolean
  readonly #replicas: Replicas | undefined
  /** Whether other nodes serve the same clients. */
  readonly isShared: boolean
  /** The open methods of `auth`; undefined if it has none. */
  readonly authentication: Authentication | undefined
  readonly #onClosed: EndpointOptions['onClosed']
  readonly #read: typeof readBounded
  readonly #inFlight: InFlight<HttpOut, Reply>
  /** Revocations of callers concern it no longer. */
  readonly #unwatch: () => void
  readonly #written: WritePool
  readonly #streams = new Set<EventStream>()
  readonly #listeners: Listeners
  /** Closes idle sessions and keeps streams alive. */
  readonly sweeper: Sweeper
  readonly loopMonitor: LoopMonitor
  /** Queues requests while the event loop is busy, whichever listener or mount they arrive on. */
  readonly acceptQueue: AcceptQueue

  constructor(service: Service, options: EndpointOptions) {
    this.service = service
    this.limits = options.limits
    this.#onClosed = options.onClosed
    this.#inFlight = new InFlight(service, options.limits)
    this.#listeners = new Listeners(options.limits, service.observers)
    if (options.replicas !== undefined) this.#inFlight.closingError = options.replicas.closingError
    const unwatch = service.leases.watch((concerns) => this.#inFlight.cancelOf(concerns))
    this.#written = budgetsOf(service, options.limits).write
    checkUnsent(service, options.limits)
    this.guard = createGuard(options, (...warning) => service.warnOnce(...warning))
    this.trusts = readTrust(options.trustProxy)
    this.loopMonitor = new LoopMonitor(service, options.limits.blockedMs)
    this.acceptQueue = new AcceptQueue({ loopMonitor: this.loopMonitor, maxMs: options.limits.waitMs })
    this.authentication = options.authentication
    this.authenticate = createAuthenticate(this, options.authentication?.authenticate)
    this.#read = (service.dialects['2025-11-25'].adapter?.read ?? readBounded) as typeof readBounded
    this.#stateful = options.sessions && service.revisions.some((revision) => revision !== LATEST)
    this.#replicas = options.replicas
    this.isShared = options.replicas !== undefined
    const now = options.now ?? (() => performance.now())
    this.sessions = new Sessions(options.limits, service, now, options.replicas?.share)
    this.sweeper = new Sweeper(options.limits, this.sessions, this.#streams)
    const unguard = guardHeap(service, options.limits, () => this.sessions.shed())
    this.#unwatch = () => (unwatch(), unguard())
  }

  /** The number of running requests. */
  get running(): number {
    return this.#inFlight.size
  }

  /** The reply to a request for the metadata of the server. */
  document(head: HttpHead): HttpOut | undefined {
    return this.authentication?.document(head)
  }

  /** Rejects a request by its head: if this returns a reply, the body is not read. */
  rejectHead(head: HttpHead): HttpOut | undefined {
    try {
      if (head.method === 'OPTIONS') return { status: 204, headers: this.guard.preflight(head) }
      head.cors = this.guard.check(head)
      if (this.#inFlight.closing) throw this.#inFlight.closingError()
    } catch (thrown) {
      return this.rejectUnread(head, thrown)
    }
    try {
      checkHead(head)
      return undefined
    } catch (thrown) {
      // A client without credentials first learns how to get some.
      if (this.authenticate !== undefined && head.header('authorization') === undefined) return undefined
      return this.rejectUnread(head, thrown)
    }
  }

  /** The reply to a request whose body is not read. */
  rejectUnread(head: HttpHead, thrown: unknown): HttpOut {
    return this.fail(undefined, thrown, undefined, head.cors ?? this.guard.cors(head))
  }

  /** Answers a request whose head was not rejected. If nodes share sessions, `isKnown` says that the store was asked about its session. */
  answer(request: HttpIn, isKnown = false): HttpOut | Promise<HttpOut> {
    if (this.#replicas !== undefined && !isKnown) return this.#replicas.answer(request)
    const headers = request.cors ?? this.guard.cors(request)
    try {
      checkCaller(this.service, request)
      if (request.method === 'POST') return this.#post(request, headers)
      if (!this.#stateful || request.header('mcp-protocol-version') === LATEST) {
        throw badVerb(request.method)
      }
      const session = this.#session(request)
      if (request.method === 'GET') {
        checkHeap(this.service)
        const elsewhere = this.#replicas?.get(session, request, headers)
        return elsewhere ?? openSessionStream(session, request, headers, this.#written)
      }
      this.sessions.end(session)
      return { status: 200, headers }
    } catch (thrown) {
      return this.fail(readableId(thrown), thrown, undefined, headers)
    }
  }

  /** Creates an error reply; `path` is that of another endpoint, if the client connected there. */
  fail(
    ...[id, thrown, dialect, headers, path]: [...Parameters<HttpHandler['fail']>, path?: string]
  ): HttpOut {
    const error = this.#inFlight.reject(thrown)
    const out = this.#errorReply(id, error, dialect, headers, path)
    // Without a request, there is no JSON-RPC response that could carry the error with status 200.
    return out.status === 200 ? { ...out, status: error.code === BAD_PARAMS.code ? 400 : 500 } : out
  }

  /** The reply for requests that are on their way when the server closes their connection. */
  lastReply(headers: Headers): HttpOut {
    return this.#errorReply(undefined, this.#inFlight.closingError(), undefined, headers)
  }

  #errorReply(
    id: RequestId | undefined,
    error: McpError,
    dialect: Dialect = this.service.dialects['2025-11-25'],
    headers: Headers,
    path?: string,
  ): HttpOut {
    const text = encodeError(id, toErrorObject(error, dialect), dialect)
    return toJson(toStatus(error, dialect), text, this.errorHeaders(error, headers, path))
  }

  /** Rejects new requests, waits for running ones up to a limit, and closes everything. */
  async close(): Promise<void> {
    this.#replicas?.endStreams()
    await Promise.all([this.#drain(), ...this.extraEndpoints.map((extra) => extra.close())])
    await this.#replicas?.close(this.limits.drainMs)
    this.sessions.close()
    this.sweeper.end()
    this.#unwatch()
    this.#onClosed?.()
  }

  async #drain(): Promise<void> {
    await this.#inFlight.drain(this.limits.drainMs)
    this.#inFlight.abortAll()
  }

  #post(request: HttpIn, headers: Headers): HttpOut | Promise<HttpOut> {
    const { body, parsed } = request
    const problem = parseProblem(this.service, this.limits, body)
    if (problem !== undefined) throw problem
    const message = parsed === undefined ? this.#read(body, this.limits) : parsed
    dropBody(request)
    if (Array.isArray(message)) return this.#batch(message, request, headers)
    return this.#take(parsed === undefined ? (message as Message) : readMessage(parsed), request, headers)
  }

  #take(message: Message, request: HttpIn, headers: Headers): HttpOut | Promise<HttpOut> {
    const { adapter } = this.service.dialects['2025-11-25']
    const { id, method, params } = adapter === undefined ? message : adapter.decode(message)
    if (method !== undefined && id !== undefined) {
      checkId(id, this.limits.idLength)
      return this.#request(id, method, params ?? NO_PARAMS, request, headers)
    }
    if (isRevoked(this.service, request)) return { status: 202, headers }
    if (method !== undefined) return this.#note(method, params ?? NO_PARAMS, request, headers)
    if (this.#stateful) this.#session(request).settle(message)
    return { status: 202, headers }
  }

  #request(
    id: RequestId,
    method: string,
    params: JsonObject,
    request: HttpIn,
    headers: Headers,
  ): HttpOut | Promise<HttpOut> {
    let dialect: Dialect | undefined
    try {
      // A batch may take long enough for its caller to be revoked.
      checkCaller(this.service, request)
      // Checked before the session, which may have ended already while the server closes.
      if (this.#inFlight.rejects) throw this.#inFlight.closingError()
      if (hasEnvelope(params) || request.header('mcp-protocol-version') === LATEST) {
        dialect = this.service.dialects[LATEST]
        const peer = openRequest(method, params, request, this.service)
        return this.#call(id, method, params, request, { peer, session: undefined, headers })
      }
      if (!this.#stateful) {
        const peer = statelessPeer(request, this.service.dialects)
        return this.#call(id, method, params, request, { peer, session: undefined, headers })
      }
      if (method === 'initialize') return this.#initialize(id, params, request, headers)
      const session = this.#session(request)
      return this.#call(id, method, params, request, { peer: session.session, session, headers })
    } catch (thrown) {
      const reply = (error: McpError): HttpOut => this.#errorReply(id, error, dialect, headers)
      return this.#inFlight.rejectRequest(thrown, { method, size: sizeOf(request), source: request }, reply)
    }
  }

  #initialize(
    id: RequestId,
    params: JsonObject,
    request: HttpIn,
    headers: Headers,
  ): HttpOut | Promise<HttpOut> {
    if (request.header('mcp-session-id') !== undefined) {
      this.#session(request)
      throw mcpError(ALREADY_INITIALIZED, {})
    }
    const session = this.sessions.create(request)
    request.session = session
    const opened = (): void => {
      if (session.session.opened) this.sessions.keep(session)
      const tell = ({ method, params: more }: MethodParams): void => session.session.notify(method, more)
      session.session.dialect.adapter?.afterAnswer('initialize', tell)
      this.sweeper.begin()
    }
    const withoutLostSession = (out: HttpOut): HttpOut => {
      if (this.sessions.has(session) || out.stream !== undefined) return out
      const { 'mcp-session-id': _, ...without } = out.headers
      return { ...out, headers: without }
    }
    const way = {
      peer: session.session,
      session,
      headers: { ...headers, 'mcp-session-id': session.id },
      opened,
    }
    const out = this.#call(id, 'initialize', params, request, way)
    return out instanceof Promise ? out.then(withoutLostSession) : withoutLostSession(out)
  }

  #call(
    id: RequestId,
    method: string,
    params: JsonObject,
    request: HttpIn,
    way: { peer: Peer; session: HttpSession | undefined; headers: Headers; opened?: () => void },
  ): HttpOut | Promise<HttpOut> {
    const { peer, session, headers } = way
    if (request.isLate === true) throw mcpError(OVERLOADED, {}, SOON)
    const accepts = readAccept(request)
    const listens = method === 'subscriptions/listen'
    if (listens && !accepts.events) throw mcpError(BAD_ACCEPT, {})
    const { limits } = this
    const { batch } = request
    const cancelsOnDisconnect = peer.dialect.disconnect === 'cancel'
    const onGone = (): void => {
      // Every reply ends with this event, and an error with its stack is not free.
      if (cancelsOnDisconnect && !call.ended) call.cancel(mcpError(CONNECTION_CLOSED, { method }))
    }
    const streams = this.#streams
    const { load } = this.service
    const exchange = new Exchange({
      limits,
      load,
      accepts,
      headers,
      session,
      request,
      batch,
      id,
      streams,
      onGone,
    })
    const call = new Call(id, method, params, { peer, channel: exchange, source: request })
    if (listens) this.#listeners.enter(call)
    const responder = new HttpResponder(
      this,
      exchange,
      request,
      way,
      cancelsOnDisconnect ? onGone : undefined,
    )
    return this.#inFlight.run(call, responder)
  }

  /** Handles a notification, which needs no response. */
  #note(method: string, params: JsonObject, request: HttpIn, headers: Headers): HttpOut {
    if (hasEnvelope(params) || request.header('mcp-protocol-version') === LATEST)
      return { status: 202, headers }
    if (!this.#stateful) {
      statelessPeer(request, this.service.dialects)
      return { status: 202, headers }
    }
    const session = this.#session(request)
    if (method === 'notifications/cancelled') session.cancel(params)
    else {
      const channel = { emit: (name: string, more: JsonObject) => session.session.notify(name, more) }
      this.service.notice(
        new Call(undefined, method, params, { peer: session.session, channel, source: request }),
      )
    }
    return { status: 202, headers }
  }

  #batch(members: readonly unknown[], request: HttpIn, headers: Headers): Promise<HttpOut> {
    const session = this.#stateful ? this.#session(request) : undefined
    const peer = session === undefined ? statelessPeer(request, this.service.dialects) : session.session
    checkBatch(members, peer.dialect, this.limits.batch)
    const { limits } = this
    const { load } = this.service
    const accepts = readAccept(request)
    const onGone = (): void => undefined
    const streams = this.#streams
    const id = members.map(idOf).filter((one) => one !== undefined)
    const whole = new Exchange({ limits, load, accepts, headers, session, streams, id, onGone })
    const part = partOf(request, whole, members.length)
    return answerBatch(members, {
      request,
      whole,
      headers,
      session,
      inFlight: this.#inFlight,
      take: (member) => this.#take(readMessage(member), part, headers),
      fail: (thrown) => this.fail(readableId(thrown), thrown, undefined, headers),
      refuse: (id, error) => this.fail(id, error, peer.dialect, headers),
    })
  }

  #session(request: HttpIn): HttpSession {
    readVersion(request)
    const id = request.header('mcp-session-id')
    if (id === undefined) throw mcpError(SESSION_REQUIRED, {})
    if (request.problem !== undefined) throw request.problem
    const session = this.sessions.get(id, request.auth)
    request.session = session
    return session
  }

  /** The headers of an error reply. */
  errorHeaders(error: McpError, headers: Headers, path?: string): Headers {
    const allow = this.#stateful ? 'POST, GET, DELETE, OPTIONS' : 'POST, OPTIONS'
    return withErrorHeaders(error, headers, { allow, challenge: this.authentication, path })
  }
}
