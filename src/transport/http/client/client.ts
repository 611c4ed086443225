import { platformFetch } from '#fetch'
import type { Message } from '../../../protocol/jsonrpc.ts'
import { type McpError, mcpError } from '../../../errors/error.ts'
import { SESSION_LOST } from '../../../errors/client.ts'
import { CLOSED } from '../../../errors/rpc.ts'
import { CONNECT_FAILED, STREAM_LOST } from '../../../errors/transport.ts'
import { lazy } from '../../../base/lazy.ts'
import type { ReadLimits } from '../../../protocol/client-limits.ts'
import { LATEST, type Revision } from '../../../protocol/revisions.ts'
import type {
  ClientTransport,
  TransportEvents,
  OlderTransportOptions,
  OpenTransport,
  OutgoingRequest,
} from '../../../rpc/client-transport.ts'
import type { AuthOwner, Bound } from '../../../rpc/logins.ts'
import { readJsonAnswer, type ReadingOptions } from './answer.ts'
import { dropBody, readRest } from './body.ts'
import { createSend, nameOf, sendingDeadline, type Send, type Sending } from './fetch.ts'
import {
  isSessionId,
  mediaTypeOf,
  readCallerHeaders,
  readRequestHeaders,
  type HeaderRecord,
} from './headers.ts'
import { Holds, type Hold } from './holds.ts'
import type { BackoffOptions } from './reconnect-backoff.ts'
import { readTarget } from './target.ts'

export interface HttpConnectOptions extends BackoffOptions {
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Sent with every HTTP request. */
  readonly headers?: HeaderRecord
  /** Has the credentials. */
  readonly owner?: AuthOwner | undefined
  readonly limits: ReadLimits
  /** Opens the transport of 2024-11-05 to the same server; undefined when the server does not support it. */
  readonly openOlder?: (
    parts: OlderParts,
    options: OlderTransportOptions,
  ) => Promise<ClientTransport | undefined>
}

/** The parts that the older transport needs to connect to the same server. */
export interface OlderParts {
  readonly target: URL
  readonly fetch: typeof globalThis.fetch
  readonly owner?: AuthOwner | undefined
  readonly events: TransportEvents
  readonly limits: ReadLimits
  readonly callerHeaders: HeaderRecord
}

const DELETE_MS = 2000
const ACCEPT = 'application/json, text/event-stream'

/** Code for event streams and for failures is loaded on first use. */
const streams = lazy(() => import('./follow.ts'))
const failures = lazy(() => import('./failure.ts'))

/** Opens transports to the server at a URL. Nothing is sent before the first request. */
export function connectHttp(url: string | URL, options: HttpConnectOptions): OpenTransport {
  const target = readTarget(url)
  const callerHeaders = readCallerHeaders(options.headers ?? {})
  const { fetch = platformFetch } = options
  const send = createSend(target, fetch, options.owner)
  return async (events) => {
    if (options.owner !== undefined) options.owner.events = events
    return new HttpClientTransport({ ...options, fetch, target, send, callerHeaders, events })
  }
}

interface Parts extends HttpConnectOptions {
  readonly fetch: typeof globalThis.fetch
  readonly target: URL
  readonly send: Send
  readonly events: TransportEvents
  readonly callerHeaders: HeaderRecord
}

/** A session, which has an id if the server gave it one. */
interface Session extends Bound {
  id?: string
}

/** The message that an HTTP request is for. */
type Outgoing = Pick<OutgoingRequest, 'method' | 'auth' | 'opens'> &
  Partial<Pick<OutgoingRequest, 'cancel'> & Pick<Sending, 'bound'>>

class HttpClientTransport implements ClientTransport {
  readonly #parts: Parts
  readonly #holds: Holds
  #agreed: Revision | undefined
  #session: Session = {}
  /** The HTTP status of the last rejected handshake. */
  #refusal = 0
  #listening = false
  #waiting = 0
  #lost = false
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#holds = new Holds(parts.limits)
  }

  /** Closing the reply cancels a request, unless a session lets the client resume it. */
  get cancels(): 'message' | 'itself' {
    return this.#agreed === undefined || this.#agreed === LATEST ? 'itself' : 'message'
  }

  async request(outgoing: OutgoingRequest): Promise<Message> {
    this.#check()
    const hold = this.#hold(outgoing.method, outgoing.cancel.signal)
    this.#waiting++
    try {
      const answer = await hold.race(this.#exchange(outgoing, hold.signal))
      hold.release()
      return answer
    } catch (error) {
      throw hold.release(error)
    } finally {
      this.#waiting--
      this.#reportLoss()
    }
  }

  async send(text: string, timeoutMs?: number): Promise<void> {
    this.#check()
    const method = 'the message'
    const deadline = sendingDeadline(method, timeoutMs)
    const hold = this.#hold(method, deadline.signal)
    try {
      const response = await hold.race(this.#post({ text, method, cancel: deadline }, hold.signal))
      if (!response.ok) dropBody(response)
      if (response.status === 404 && this.#hasSession) throw this.#lose()
      if (!response.ok) throw (await failures()).toFailure(response, method)
      if (response.body !== null) void readRest(response.body.getReader(), this.#holds.leftovers)
      hold.release()
    } catch (error) {
      throw hold.release(error)
    } finally {
      deadline.end()
      this.#reportLoss()
    }
  }

  agree(revision: Revision): void {
    this.#agreed = revision
  }

  /** Code that only sessions need is loaded with the first one. */
  async listen(): Promise<void> {
    if (this.cancels === 'itself' || this.#listening || this.#lost || this.#closing) return
    this.#listening = true
    const hold = this.#hold('listen')
    const { listen } = await import('./listen.ts')
    await listen({
      ...this.#reading(hold.signal),
      events: this.#parts.events,
      ...this.#backoff,
      get: (lastId, isFirst) =>
        this.#get(lastId, { method: 'listen', bound: isFirst ? undefined : this.#session }, hold.signal),
      onLost: () => {
        this.#lose()
        this.#reportLoss()
      },
      onEnd: (error) => hold.release(error),
      isWanted: () => this.#closing === undefined && !this.#lost,
    })
  }

  async older(options: OlderTransportOptions): Promise<ClientTransport | undefined> {
    if (!options.known && ![400, 404, 405].includes(this.#refusal)) return undefined
    return this.#parts.openOlder?.(this.#parts, options)
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }

  async #exchange(outgoing: OutgoingRequest, signal: AbortSignal): Promise<Message> {
    const opens = outgoing.method === 'initialize'
    if (opens) this.#session = {}
    // Load the reader before a resumable stream arrives; otherwise the events of a broken connection would be lost.
    if (this.#resumes) await streams()
    const bound = opens || this.#hasSession ? this.#session : undefined
    const sent = { ...outgoing, headers: outgoing.headers(), bound, opens: opens || outgoing.opens }
    const response = await this.#post(sent, signal)
    if (response.status === 404 && this.#hasSession && !opens) {
      dropBody(response)
      throw this.#lose()
    }
    const options = this.#reading(signal)
    if (opens) this.#refusal = response.ok ? 0 : response.status
    if (!response.ok) return (await failures()).readFailure(response, outgoing, options)
    if (opens) this.#keepSession(response)
    const type = mediaTypeOf(response.headers)
    if (type === 'application/json') return readJsonAnswer(response, outgoing, options)
    if (type === 'text/event-stream') return this.#follow(response, outgoing, options)
    throw (await failures()).toUseless(response, outgoing.method)
  }

  /** Code that only streams need is loaded with the first one. */
  async #follow(first: Response, outgoing: OutgoingRequest, options: ReadingOptions): Promise<Message> {
    const { method } = outgoing
    const { signal } = options
    const { follow } = await streams()
    if (signal.aborted) {
      dropBody(first)
      throw signal.reason
    }
    return follow(first, outgoing, {
      ...options,
      resumes: () => this.#resumes,
      get: (lastId) => this.#get(lastId, outgoing, signal),
      ...this.#backoff,
      refused: (response) => this.#refused(response, method),
    })
  }

  /** Why a stream cannot be resumed. The request may have run, so even a lost session is reported as a lost response. */
  async #refused(response: Response, method: string): Promise<McpError> {
    dropBody(response)
    const { status } = response
    if (status === 401 || status === 403) return (await failures()).toFailure(response, method)
    if (status === 404 && this.#hasSession) this.#lose()
    return mcpError(STREAM_LOST, { method }, { data: { status } })
  }

  #post(
    {
      text,
      headers,
      ...message
    }: Outgoing & { readonly text: string; readonly headers?: HeaderRecord | undefined },
    signal: AbortSignal,
  ): Promise<Response> {
    const own = { 'content-type': 'application/json', accept: ACCEPT }
    return this.#send({ verb: 'POST', body: text, signal }, message, own, headers)
  }

  #get(lastId: string | undefined, message: Outgoing, signal: AbortSignal): Promise<Response> {
    const own = { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': lastId }) }
    return this.#send({ verb: 'GET', signal }, message, own)
  }

  async #send(
    sending: Pick<Sending, 'verb' | 'body' | 'signal'>,
    { cancel, ...message }: Outgoing,
    own: HeaderRecord,
    request: HeaderRecord = {},
  ): Promise<Response> {
    const headers = this.#headers(own, request)
    if (sending.signal.aborted) throw sending.signal.reason
    return this.#parts.send({ ...message, ...sending, headers, clock: cancel?.clock })
  }

  /** The headers of one HTTP request; those of the protocol take precedence. */
  #headers(own: HeaderRecord, request: HeaderRecord): HeaderRecord {
    const { callerHeaders: caller } = this.#parts
    const { 'mcp-session-id': _, ...headers } = { ...caller, ...readRequestHeaders(request), ...own }
    return {
      ...headers,
      ...(this.#agreed !== undefined && { 'mcp-protocol-version': this.#agreed }),
      ...(this.#hasSession && { 'mcp-session-id': this.#session.id as string }),
    }
  }

  #keepSession({ headers }: Response): void {
    const session = headers.get('mcp-session-id')
    if (session === null) return
    if (!isSessionId(session)) {
      const reason = 'the server sent a session id that is too long or not visible ASCII'
      throw mcpError(CONNECT_FAILED, { target: nameOf(this.#parts.target), reason })
    }
    this.#session.id = session
  }

  get #hasSession(): boolean {
    return this.#session.id !== undefined && this.#agreed !== LATEST
  }

  /** Whether lost streams can be resumed, including the reply to the handshake, before a revision is agreed. */
  get #resumes(): boolean {
    return this.#agreed === undefined ? this.#session.id !== undefined : this.#agreed !== LATEST
  }

  #reading(signal: AbortSignal): ReadingOptions {
    const { leftovers, count } = this.#holds
    return { limits: this.#parts.limits, signal, leftovers, count }
  }

  get #backoff(): BackoffOptions {
    const { reconnect, random } = this.#parts
    return { reconnect, random }
  }

  #check(): void {
    if (this.#lost) throw mcpError(SESSION_LOST, {})
    if (this.#closing !== undefined) throw mcpError(CLOSED, {})
  }

  #hold(method: string, outer?: AbortSignal): Hold {
    const reason = (): Error => (this.#lost ? mcpError(STREAM_LOST, { method }) : mcpError(CLOSED, {}))
    return this.#holds.begin(reason, outer)
  }

  /** Marks the session as lost. Nothing more is sent, but pending requests keep waiting. */
  #lose(): McpError {
    this.#lost = true
    return mcpError(SESSION_LOST, {})
  }

  #reportLoss(): void {
    if (!this.#lost || this.#session.id === undefined || this.#waiting > 0 || this.#closing !== undefined)
      return
    this.#session = {}
    this.#holds.abortAll()
    this.#parts.events.onDown(mcpError(SESSION_LOST, {}))
  }

  async #end(): Promise<void> {
    this.#holds.abortAll()
    if (!this.#hasSession || this.#lost) return
    const late = new AbortController()
    const hold = this.#holds.begin(() => mcpError(CLOSED, {}), late.signal)
    const timer = setTimeout(() => late.abort(), DELETE_MS)
    try {
      dropBody(await hold.race(this.#delete(hold.signal)))
    } catch {
      // If the server cannot be reached, the session times out there.
    } finally {
      clearTimeout(timer)
    }
  }

  #delete(signal: AbortSignal): Promise<Response> {
    return this.#send({ verb: 'DELETE', signal }, { method: 'close' }, { accept: ACCEPT })
  }
}
