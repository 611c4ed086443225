import type { Message } from '../../protocol/jsonrpc.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { SESSION_LOST } from '../../errors/client.ts'
import { fromErrorObject } from '../../errors/remote.ts'
import { CLOSED } from '../../errors/rpc.ts'
import { INSUFFICIENT_SCOPE } from '../../errors/server.ts'
import { CONNECT_FAILED, STREAM_LOST } from '../../errors/transport.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type { ClientTransport, OlderTransportOptions, OutgoingRequest } from '../../rpc/client-transport.ts'
import type { Clock } from '../../rpc/clock.ts'
import { isOtherLogin, type Bound } from '../../rpc/logins.ts'
import { MessageStream } from '../../rpc/message-stream.ts'
import { scopeChallenge } from '../../rpc/scopes.ts'
import type { ReadEvent } from '../../wire/sse-reader.ts'
import type { ReadingOptions } from '../http/client/answer.ts'
import type { OlderParts } from '../http/client/client.ts'
import { dropBody, readRest, tooLarge } from '../http/client/body.ts'
import { readFailure, toFailure } from '../http/client/failure.ts'
import { createSend, nameOf, sendingDeadline } from '../http/client/fetch.ts'
import { readRequestHeaders, type HeaderRecord } from '../http/client/headers.ts'
import { Holds, type Hold } from '../http/client/holds.ts'
import { isStream } from '../http/client/resume.ts'
import { isMessageEvent, readStream } from '../http/client/stream.ts'
import { receiveText } from '../io/receive.ts'
import { isUrl, parseUrl } from '../../protocol/url.ts'

/** How long to wait for the stream to announce the endpoint for messages. */
const ADDRESS_MS = 10_000

/** Statuses that do not mean that a server lacks the transport: it wants credentials, or has no time. */
const DECIDED: ReadonlySet<number> = new Set([401, 403, 429, 503])

/** Waits for an answer that comes elsewhere, and returns the reply that counts if it is not the given one. */
type Settle = (response: Response) => Promise<Response | undefined>

type Posted = Pick<OutgoingRequest, 'text' | 'method' | 'auth' | 'cancel' | 'opens'> & {
  readonly bound?: Bound
  readonly headers?: HeaderRecord | undefined
}

/** Opens the transport of 2024-11-05; undefined when the server at the URL does not support it. */
export async function openSse(
  parts: OlderParts,
  options: OlderTransportOptions,
): Promise<ClientTransport | undefined> {
  const transport = new SseClientTransport(parts)
  try {
    if (await transport.open(options)) return transport
  } catch (error) {
    await transport.close()
    throw error
  }
  await transport.close()
  return undefined
}

/** One stream from the server, and a POST for each message to it. */
class SseClientTransport implements ClientTransport {
  readonly cancels = 'message'
  readonly #parts: OlderParts
  readonly #holds: Holds
  readonly #messages: MessageStream
  #stream: Hold | undefined
  /** Where messages are sent, once it is known. */
  #address: URL | undefined
  #agreed: Revision | undefined
  readonly #bound: Bound = {}
  #noted = false
  #onAddress: ((address: string | undefined) => void) | undefined

  constructor(parts: OlderParts) {
    this.#parts = parts
    this.#holds = new Holds(parts.limits)
    this.#messages = new MessageStream({ events: parts.events, write: () => undefined })
  }

  /** Opens the stream and waits for the address; false when there is no stream, or no address in time. */
  async open({ signal, timeoutMs }: OlderTransportOptions): Promise<boolean> {
    const hold = (this.#stream = this.#holds.begin(() => mcpError(CLOSED, {}), signal))
    const { clock } = this.#parts.events
    const deadline = sendingDeadline('initialize', Math.min(timeoutMs, ADDRESS_MS), clock)
    deadline.onCancel({ cancelled: () => this.#holds.abortAll() })
    try {
      return await hold.race(this.#open(hold.signal, deadline.clock))
    } catch (error) {
      if (deadline.aborted) return false
      throw error
    } finally {
      deadline.end()
    }
  }

  async #open(signal: AbortSignal, clock: Clock): Promise<boolean> {
    const { target, fetch, owner, callerHeaders } = this.#parts
    const headers = { ...callerHeaders, accept: 'text/event-stream' }
    const get = createSend(target, fetch, owner)
    const own = { method: 'initialize', clock, bound: this.#bound, opens: true }
    const sending = { verb: 'GET', headers, signal, ...own } as const
    const response = await get(sending).catch((error: unknown) => {
      if (error instanceof McpError && error.kind.startsWith('login_')) throw error
      return undefined
    })
    if (signal.aborted) throw signal.reason
    if (response === undefined || !isStream(response)) return this.#decline(response, signal)
    const address = await this.#readStream(response, signal)
    if (address === undefined) return false
    const base = response.url === '' ? target : parseUrl(response.url)
    this.#address = readAddress(address, base)
    return true
  }

  request(outgoing: OutgoingRequest): Promise<Message> {
    const answered = this.#messages.request(outgoing)
    if (this.#messages.failure !== undefined || outgoing.cancel.aborted) return answered
    if ((outgoing.auth ?? this.#parts.owner?.auth) !== undefined) return this.#authorize(outgoing, answered)
    void this.#deliver(outgoing)
    return answered
  }

  /** Waits for the answer before the reply to its POST counts: if scopes are missing, that is the 403 that HTTP would have had. */
  async #authorize(outgoing: OutgoingRequest, first: Promise<Message>): Promise<Message> {
    let answered = first
    // It may fail before it is waited for, as may the next one.
    answered.catch(() => undefined)
    await this.#deliver(outgoing, async (response) => {
      if (!response.ok) return undefined
      this.#readRest(response)
      const answer = await answered
      const challenge = challengeOf(answer)
      if (challenge === undefined) return undefined
      answered = this.#messages.request(outgoing)
      answered.catch(() => undefined)
      return Response.json(answer, { status: 403, headers: { 'www-authenticate': challenge } })
    })
    return answered
  }

  async send(text: string, timeoutMs?: number): Promise<void> {
    this.#messages.sentOther()
    const method = 'the message'
    const deadline = sendingDeadline(method, timeoutMs)
    const hold = this.#holds.begin(() => mcpError(CLOSED, {}), deadline.signal)
    try {
      const response = await hold.race(this.#post({ text, method, cancel: deadline }, hold.signal))
      if (!response.ok) throw this.#refused(response, method)
      this.#readRest(response)
      hold.release()
    } catch (error) {
      throw hold.release(error)
    } finally {
      deadline.end()
    }
  }

  agree(revision: Revision): void {
    this.#agreed = revision
  }

  async close(): Promise<void> {
    this.#messages.fail(mcpError(CLOSED, {}))
    this.#end()
  }

  #end(): void {
    this.#holds.abortAll()
    this.#stream?.release()
  }

  async #decline(response: Response | undefined, signal: AbortSignal): Promise<false> {
    if (response === undefined) return false
    if (DECIDED.has(response.status))
      await readFailure(response, { method: 'initialize', id: undefined }, this.#reading(signal))
    dropBody(response)
    return false
  }

  /** Starts reading the stream; resolves with the address in its first event, or undefined if that is not one. */
  #readStream(response: Response, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#onAddress = resolve
      const over = (): void => {
        this.#setAddress(undefined)
        this.#down(new McpError('stream_lost', 'the event stream of the server ended'))
      }
      readStream(response, {
        maxBytes: this.#parts.limits.clientBytes,
        signal,
        leftovers: this.#holds.leftovers,
        onEvent: (event) => this.#take(event),
        onRetry: () => undefined,
        onOversize: () => this.#skip(),
      }).then(over, over)
    })
  }

  #setAddress(address: string | undefined): void {
    const onAddress = this.#onAddress
    this.#onAddress = undefined
    onAddress?.(address)
  }

  /** Receives an event. The first one sets the address for messages; later ones cannot change it. */
  #take(event: ReadEvent): boolean {
    if (this.#onAddress !== undefined) this.#setAddress(event.event === 'endpoint' ? event.data : undefined)
    else if (isMessageEvent(event) && !receiveText(this.#messages, event.data, this.#parts.limits))
      this.#note()
    return false
  }

  /** Reports, once, that an event was not a message. */
  #note(): void {
    if (this.#noted) return
    this.#noted = true
    this.#parts.events.onNote?.('stream', 'the event stream contained something that is not a message')
  }

  /** An event was too large. If just one request is pending it was the response to that; otherwise all of them fail. */
  #skip(): void {
    const problem = (): McpError => tooLarge(this.#parts.limits.clientBytes) as McpError
    if (!this.#messages.reject(this.#messages.only, problem) && this.#messages.size > 0) this.#down(problem())
  }

  async #deliver(outgoing: OutgoingRequest, settle?: Settle): Promise<void> {
    const { id, method, cancel } = outgoing
    const opens = outgoing.opens === true || this.#agreed === undefined
    const sent = { ...outgoing, headers: outgoing.headers(), bound: this.#bound, opens }
    const hold = this.#holds.begin(() => mcpError(CLOSED, {}), cancel.signal)
    try {
      const response = await hold.race(this.#post(sent, hold.signal, settle))
      if (response.status === 404) throw this.#refused(response, method)
      if (response.ok) this.#readRest(response)
      else this.#messages.take({ ...(await readFailure(response, outgoing, this.#reading(hold.signal))), id })
      hold.release()
    } catch (error) {
      const reason = hold.release(error) as McpError
      this.#messages.reject(id, () => reason)
      if (reason.kind === 'session_lost' && !isOtherLogin(reason))
        this.#down(mcpError(STREAM_LOST, { method }))
    }
  }

  async #post(
    { text, headers = {}, cancel, ...rest }: Posted,
    signal: AbortSignal,
    settle?: Settle,
  ): Promise<Response> {
    const { fetch, owner, callerHeaders } = this.#parts
    const all = {
      ...callerHeaders,
      ...readRequestHeaders(headers),
      'content-type': 'application/json',
      accept: 'application/json',
      ...(this.#agreed !== undefined && { 'mcp-protocol-version': this.#agreed }),
    }
    if (signal.aborted) throw signal.reason
    const settled: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      return (await settle?.(response)) ?? response
    }
    const send = createSend(this.#address as URL, settled, owner)
    return send({ ...rest, verb: 'POST', headers: all, body: text, signal, clock: cancel.clock })
  }

  /** Converts a bad status to an error; 404 means that the server no longer knows the stream. */
  #refused(response: Response, method: string): McpError {
    dropBody(response)
    return response.status === 404 ? mcpError(SESSION_LOST, {}) : toFailure(response, method)
  }

  #readRest({ body }: Response): void {
    if (body !== null && !body.locked) void readRest(body.getReader(), this.#holds.leftovers)
  }

  #reading(signal: AbortSignal): ReadingOptions {
    const { leftovers, count } = this.#holds
    return { limits: this.#parts.limits, signal, leftovers, count }
  }

  #down(reason: McpError): void {
    if (this.#messages.failure !== undefined) return
    const wasOpen = this.#address !== undefined
    this.#messages.fail(reason)
    this.#end()
    if (wasOpen) this.#parts.events.onDown(reason)
  }
}

/** The challenge with which HTTP would have answered a request that lacks scopes; undefined for any other answer. */
function challengeOf({ error }: Message): string | undefined {
  const { kind, data } = error === undefined ? {} : fromErrorObject(error)
  if (kind !== INSUFFICIENT_SCOPE.kind) return undefined
  // Errors of this kind name their scopes.
  return scopeChallenge(data?.['scopes'] as readonly unknown[])
}

/** The URL for messages. Another origin is rejected: that server could use the caller's headers to impersonate it. */
function readAddress(address: string, base: URL): URL {
  const url = isUrl(address, base.href) ? parseUrl(address, base) : undefined
  // The origin of a blob is that of its creator.
  const isOurs = url?.protocol === base.protocol && url.origin === base.origin
  if (!isOurs || url.username !== '' || url.password !== '') {
    const reason = 'the endpoint announced by its stream is not a URL of the same origin'
    throw mcpError(CONNECT_FAILED, { target: nameOf(base), reason })
  }
  url.hash = ''
  return url
}
