import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_ACCEPT } from '../errors/http.ts'
import { OVERLOADED, SHUTTING_DOWN } from '../errors/rpc.ts'
import { BAD_PARAMS, REVISION_UNSUPPORTED } from '../errors/wire.ts'
import { LATER, SOON } from '../errors/retry-after.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META } from '../protocol/meta.ts'
import { LATEST, type Revision } from '../protocol/revisions.ts'
import { DIALECTS } from '../protocol/switches.ts'
import { Call, type Peer } from '../rpc/call.ts'
import type { Service } from '../rpc/service.ts'
import { Session } from '../rpc/session.ts'
import { badVerb } from '../transport/http/server/bad-verb.ts'
import type { EventStream } from '../transport/http/server/event-stream.ts'
import { checkContent, readAccept } from '../transport/http/server/negotiate.ts'
import type { Headers, HttpHead, HttpIn, HttpOut } from '../transport/http/server/parts.ts'
import { dropBody } from '../transport/http/server/responder.ts'
import { Sessions, type HttpSession } from '../transport/http/server/sessions.ts'
import { Sweeper } from '../transport/http/server/sweeper.ts'
import { parseProblem } from '../transport/io/heap-guard.ts'
import { noJobs, readBody, readEnvelope, requestIdOf, type Asked, type Handshake } from './decode.ts'
import { encodeCallResult, encodeJobHandle, encodeToolList } from './encode.ts'
import { EnvelopeEndpoint, type EnvelopeEndpointOptions } from './envelope-endpoint.ts'
import { ASYNC, GIST_CAPABILITIES, type ConnectionDescriptor } from './envelopes.ts'
import { GistExchange } from './exchange.ts'
import { GistResponder, gone, type Way } from './responder.ts'
import { agree, inFormOf, monthOf, type Cycle } from './version.ts'

export interface GistEndpointOptions extends EnvelopeEndpointOptions {
  /** How to compare versions when a client requests one that is not served. */
  readonly cycle?: Cycle | undefined
  /** Whether calls may become jobs. */
  hasTasks(): boolean
}

/**
 * Serves the envelopes of the 2025-11 developer specification at their own path: a handshake, calls and lists of tools.
 * Each becomes a protocol request to the same server, with the same guard, limits and middleware.
 */
export class GistEndpoint extends EnvelopeEndpoint {
  readonly paths: ReadonlySet<string> = new Set([this.entry])
  protected readonly allowed = 'POST, OPTIONS'
  readonly sessions: Sessions
  readonly #options: GistEndpointOptions
  /** The revisions that gist versions map to. */
  readonly #revisions: readonly Revision[]
  /** The sessions that agreed on `stream`. */
  readonly #streaming = new WeakSet<HttpSession>()
  readonly #streams = new Set<EventStream>()
  /** Closes idle sessions and keeps streams alive. */
  readonly sweeper: Sweeper

  constructor(service: Service, options: GistEndpointOptions) {
    super(service, options)
    const { limits } = options
    this.#options = options
    this.#revisions = service.revisions.filter((revision) => revision !== LATEST)
    this.sessions = new Sessions(limits, service, () => performance.now())
    this.sweeper = new Sweeper(limits, this.sessions, this.#streams)
  }

  owns(target = ''): boolean {
    return (target.split('?', 1)[0] as string).endsWith(this.entry)
  }

  /** Waits for running requests, up to a limit, and closes every session. */
  override async close(): Promise<void> {
    await super.close()
    this.sessions.close()
    this.sweeper.end()
  }

  protected checkHead(head: HttpHead): void {
    if (head.method !== 'POST') throw badVerb(head.method, 'send envelopes with POST')
    checkContent(head)
    const accepts = readAccept(head)
    if (!accepts.json && !accepts.events) throw mcpError(BAD_ACCEPT, {})
  }

  protected respond(
    request: HttpIn,
    headers: Headers,
    begun: number,
    onId: (id: string | undefined) => void,
  ): HttpOut | Promise<HttpOut> {
    const problem = parseProblem(this.service, this.limits, request.body)
    if (problem !== undefined) throw problem
    const value = readBody(request, this.limits)
    dropBody(request)
    onId(requestIdOf(value))
    const envelope = readEnvelope(value)
    if (this.closing) throw mcpError(SHUTTING_DOWN, {}, LATER)
    return envelope.kind === 'handshake'
      ? this.#open(envelope, request, headers, begun)
      : this.#ask(envelope, request, headers, begun)
  }

  /** Handles the handshake. It opens the session with `initialize`, so middleware for that applies here too. */
  #open(shake: Handshake, request: HttpIn, headers: Headers, begun: number): HttpOut | Promise<HttpOut> {
    const { version, clientId = crypto.randomUUID() } = shake
    const revision = agree(version, this.#revisions, this.#options.cycle ?? 'revision')
    if (revision === undefined) throw this.#unsupported(version)
    const session = this.sessions.create(request)
    const peer = new Session(DIALECTS)
    const encode = (): string => {
      this.#keep(session, peer, shake)
      return JSON.stringify(this.#describe(shake, clientId, session))
    }
    const params = {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: clientId, version: '' },
    }
    // The session id is a secret, and handlers may log the id of a request.
    const id = crypto.randomUUID()
    const exchange = this.#exchange(id, request, headers, false, () => call.cancel(gone('initialize')))
    const call = new Call(id, 'initialize', params, { peer, channel: exchange, source: request })
    return this.#run(call, { request, headers, session: undefined, exchange, begun, encode })
  }

  /** Stores a session and what its handshake agreed on. */
  #keep(kept: HttpSession, { dialect, client }: Session, { capabilities }: Handshake): void {
    // Profiles never change these messages.
    kept.session.dialect = DIALECTS[dialect.revision]
    kept.session.client = client
    kept.session.opened = true
    if (capabilities.includes('stream')) this.#streaming.add(kept)
    this.sessions.keep(kept)
    this.sweeper.begin()
  }

  #describe(shake: Handshake, clientId: string, { id, session }: HttpSession): ConnectionDescriptor {
    const { revision } = session.dialect
    const words = this.#options.hasTasks() ? [...GIST_CAPABILITIES, ASYNC] : GIST_CAPABILITIES
    return {
      version: monthOf(revision),
      client_id: clientId,
      server_id: String(this.service.info['name']),
      transport: 'http',
      capabilities: words.filter((word) => shake.capabilities.includes(word)),
      session: id,
      mcp_version: inFormOf(shake.version, revision),
    }
  }

  #ask(asked: Asked, request: HttpIn, headers: Headers, begun: number): HttpOut | Promise<HttpOut> {
    const { kind, requestId: id, params, isJob } = asked
    if (isJob && !this.#options.hasTasks()) throw noJobs()
    const session = asked.session === undefined ? undefined : this.sessions.get(asked.session, request.auth)
    request.session = session
    const peer = this.#peer(asked, session)
    const streams = kind === 'call' && !isJob && this.#wantsStream(request, session)
    const method = kind === 'call' ? 'tools/call' : 'tools/list'
    const exchange = this.#exchange(id, request, headers, streams, () => call.cancel(gone(method)))
    const meta = params['_meta'] as JsonObject | undefined
    const all = streams ? { ...params, _meta: { ...meta, [META.progressToken]: id } } : params
    const call = new Call(id, method, all, { peer, channel: exchange, source: request })
    call.asTask = isJob ? {} : 'wait'
    const encode = (result: JsonObject): string => {
      const ms = performance.now() - begun
      if (kind === 'list') return encodeToolList(id, result, ms)
      if (result['resultType'] === 'task') return encodeJobHandle(id, result)
      return encodeCallResult({ request_id: id }, result, {
        dialect: peer.dialect,
        info: this.service.info,
        ms,
      })
    }
    return this.#run(call, { request, headers, session, exchange, begun, encode })
  }

  /** The sender: its session, or the identity in the envelope if there is none. */
  #peer({ clientName }: Asked, kept: HttpSession | undefined): Peer {
    const session = kept?.session ?? new Session(DIALECTS)
    if (kept === undefined) {
      const newest = this.#revisions.at(-1)
      if (newest === undefined) throw this.#unsupported('2025-11')
      session.dialect = DIALECTS[newest]
    }
    if (clientName === undefined) return session
    const { dialect, capabilities } = session
    return { dialect, capabilities, session, client: { name: clientName, version: '' } }
  }

  /** Whether to send progress: if the client explicitly accepts events and its session, if any, agreed on `stream`. */
  #wantsStream(request: HttpIn, session: HttpSession | undefined): boolean {
    const { events, json } = readAccept(request)
    if (!events || !/text\/event-stream/i.test(request.header('accept') ?? '')) return false
    if (session === undefined || this.#streaming.has(session)) return true
    if (json) return false
    const reason = 'this session did not agree on the capability "stream"; accept application/json'
    throw mcpError(BAD_PARAMS, { method: 'POST /gist', reason })
  }

  #exchange(
    id: string,
    request: HttpIn,
    headers: Headers,
    streams: boolean,
    onGone: () => void,
  ): GistExchange {
    const { limits } = this
    return new GistExchange({
      id,
      limits,
      accepts: readAccept(request),
      streams,
      headers,
      open: this.#streams,
      onGone,
    })
  }

  #run(call: Call, way: Omit<Way, 'errorHeaders'>): HttpOut | Promise<HttpOut> {
    if (way.request.isLate === true) throw mcpError(OVERLOADED, {}, SOON)
    const errorHeaders = (error: McpError): Headers => this.errorHeaders(error, way.headers)
    return this.inFlight.run(call, new GistResponder(this.sweeper, { ...way, errorHeaders }))
  }

  #unsupported(version: string): McpError {
    const data = { supported: this.#revisions.map(monthOf), requested: version }
    return mcpError(REVISION_UNSUPPORTED, { version }, { data })
  }
}
