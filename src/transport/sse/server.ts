import { SESSION_LIMIT } from '../../errors/limits.ts'
import { mcpError, type McpError } from '../../errors/error.ts'
import { BAD_ACCEPT, SSE_VERB, UNKNOWN_SESSION } from '../../errors/http.ts'
import { OVERLOADED, SHUTTING_DOWN } from '../../errors/rpc.ts'
import { LATER, MUCH_LATER, SOON } from '../../errors/retry-after.ts'
import type { Limits } from '../../protocol/limits.ts'
import { anonymousNetwork, ownerOf } from '../../rpc/call.ts'
import type { Service } from '../../rpc/service.ts'
import { badVerb } from '../http/server/bad-verb.ts'
import { checkCaller } from '../http/server/authenticate.ts'
import type { Endpoint } from '../http/server/endpoint.ts'
import { toStream } from '../http/server/exchange.ts'
import type { Guard } from '../http/server/guard.ts'
import { checkContent, readAccept } from '../http/server/negotiate.ts'
import {
  callerOf,
  type ExtraEndpoint,
  type Headers,
  type HttpHandler,
  type HttpHead,
  type HttpIn,
  type HttpOut,
} from '../http/server/parts.ts'
import { budgetsOf } from '../io/budgets.ts'
import { checkHeap } from '../io/heap-guard.ts'
import { Owners } from '../io/owners.ts'
import { Evictable } from '../http/server/evictable.ts'
import { Sweeper } from '../http/server/sweeper.ts'
import { SseClient } from './peer.ts'
import type { SharedSse } from './shared-streams.ts'
import { withHandshake } from './with-handshake.ts'

export interface SseOptions {
  readonly limits: Limits
  readonly guard: Guard
  readonly authenticate?: HttpHandler['authenticate']
  /** The path of the other endpoint of this server, for messages. Default: `/mcp`. */
  readonly path?: string | undefined
  /** Creates an error reply. */
  readonly fail: Endpoint['fail']
  /** Shares the clients with other nodes; absent if there are none. */
  readonly shared?: SharedSse | undefined
}

/** The paths for opening a stream and for sending messages. */
const STREAM = '/sse'
const MESSAGES = '/messages'
const ACCEPTED = { 'content-type': 'text/plain' }
/** A stream without messages may be evicted after this time. */
const FRESH_MS = 10_000

/**
 * The transport of 2024-11-05: a GET opens the stream for everything the server sends, starting with the address to which
 * the client posts its messages. Every revision with a handshake is served.
 */
export class SseEndpoint implements ExtraEndpoint {
  readonly option = 'sse'
  readonly paths: ReadonlySet<string> = new Set([STREAM, MESSAGES])
  readonly entry: string = STREAM
  readonly answersElsewhere = true
  readonly limits: Limits
  readonly service: Service
  /** Limits of the streams, with the number of unread bytes after which a client is aborted. */
  readonly #streaming: Limits
  readonly #guard: Guard
  readonly #path: string
  readonly authenticate: HttpHandler['authenticate']
  readonly #fail: Endpoint['fail']
  readonly #clients = new Map<string, SseClient>()
  readonly #owners = new Owners<SseClient>()
  /** The clients that may be evicted for anyone, and for an owner with far fewer. */
  readonly #silent = new Evictable<SseClient>(
    (client) => !client.spoken && performance.now() - client.seen >= FRESH_MS && this.#has(client),
    true,
  )
  readonly #unused = new Evictable<SseClient>((client) => !client.isBusy && this.#has(client), false)
  /** Keeps streams alive. */
  readonly sweeper: Sweeper
  readonly #shared: SharedSse | undefined
  #closing = false

  constructor(service: Service, { limits, guard, fail, authenticate, shared, path = '/mcp' }: SseOptions) {
    this.#path = path
    this.#shared = shared
    this.authenticate = authenticate
    this.service = withHandshake(service)
    this.limits = { ...limits, httpBytes: limits.sseBytes }
    this.#streaming = { ...limits, streamBytes: limits.connectionBytes }
    this.#guard = guard
    this.#fail = fail
    const keepAlive = (): void => {
      this.#clients.forEach((client) => client.keepAlive())
      shared?.keepAlive()
    }
    const sweep = (): void => shared?.sweep()
    const clients = this.#clients
    const streams = {
      keepAlive,
      sweep,
      get size() {
        return clients.size + (shared?.size ?? 0)
      },
    }
    this.sweeper = new Sweeper(limits, streams, new Set())
  }

  /** Whether a request target belongs to this transport. */
  owns(target: string | undefined): boolean {
    const path = pathOf({ target })
    return path.endsWith(STREAM) || path.endsWith(MESSAGES)
  }

  /** Rejects a request by its head alone. */
  rejectHead(head: HttpHead): HttpOut | undefined {
    const verb = isStream(head) ? 'GET' : 'POST'
    try {
      if (head.method === 'OPTIONS') return { status: 204, headers: this.#guard.preflight(head) }
      head.cors = this.#guard.check(head)
      if (head.method !== verb) throw this.#unfit(head)
      if (verb === 'POST') this.#checkMessage(head)
      else this.#checkStream(head)
      return undefined
    } catch (thrown) {
      const out = this.rejectUnread(head, thrown)
      return out.status === 405 ? { ...out, headers: { ...out.headers, allow: `${verb}, OPTIONS` } } : out
    }
  }

  rejectUnread(head: HttpHead, thrown: unknown): HttpOut {
    return this.fail(undefined, thrown, undefined, head.cors ?? this.#guard.cors(head))
  }

  /** Opens a stream, or receives a message, which is answered on its stream. */
  answer(request: HttpIn): HttpOut | Promise<HttpOut> {
    const headers = request.cors ?? this.#guard.cors(request)
    try {
      checkCaller(this.service, request)
      if (this.#shared !== undefined) return this.#answerShared(this.#shared, request, headers)
      return isStream(request) ? this.#open(request, headers) : this.#take(request, headers)
    } catch (thrown) {
      return this.fail(undefined, thrown, undefined, headers)
    }
  }

  fail(...reply: Parameters<HttpHandler['fail']>): HttpOut {
    return this.#fail(...reply, this.entry)
  }

  /** Waits for running requests, up to a limit, and ends every stream. */
  async close(): Promise<void> {
    this.#closing = true
    await Promise.all([this.#shared?.close(), ...[...this.#clients.values()].map((client) => client.close())])
    this.#clients.clear()
    this.sweeper.end()
  }

  /** The error for a method that is not the one of its path. Clients that begin with POST have the wrong URL. */
  #unfit(head: HttpHead): McpError {
    if (head.method === 'POST') return mcpError(SSE_VERB, { path: this.#path })
    return badVerb(head.method)
  }

  #checkMessage(head: HttpHead): void {
    checkContent(head)
    // Callers that are not authenticated must not learn which addresses exist.
    if (this.authenticate === undefined && this.#shared === undefined) this.#find(head)
  }

  #checkStream(head: HttpHead): void {
    if (this.#closing) throw mcpError(SHUTTING_DOWN, {}, this.#shared === undefined ? LATER : SOON)
    if (!readAccept(head).events) throw mcpError(BAD_ACCEPT, {})
  }

  /** Opens a stream, or receives a message for the stream of any node. */
  async #answerShared(shared: SharedSse, request: HttpIn, headers: Headers): Promise<HttpOut> {
    try {
      this.sweeper.begin()
      if (isStream(request)) {
        const stream = await shared.open(
          request,
          (id) => `${addressOf(request)}?sessionId=${id}`,
          this.#streaming,
        )
        return toStream(stream, headers)
      }
      if (request.isLate === true) throw mcpError(OVERLOADED, {}, SOON)
      await shared.take(idIn(request), request)
      return accepted(headers)
    } catch (thrown) {
      return this.fail(undefined, thrown, undefined, headers)
    }
  }

  #open(request: HttpIn, headers: Headers): HttpOut {
    const { limits, service } = this
    const owner = ownerOf(request.auth)
    const countedFor = anonymousNetwork(request) ?? owner
    checkHeap(service)
    if (this.#clients.size >= limits.sessions) this.#makeRoom(countedFor)
    const id = crypto.randomUUID()
    const onGone = (): void => this.#delete(client)
    const streaming = this.#streaming
    const { lifetime } = request
    const client: SseClient = new SseClient({
      id,
      service,
      limits,
      streaming,
      owner,
      countedFor,
      lifetime,
      onGone,
    })
    this.#clients.set(id, client)
    this.#owners.add(client)
    this.sweeper.begin()
    request.session = client.connection
    client.greet(`${addressOf(request)}?sessionId=${id}`)
    return toStream(client.stream, headers)
  }

  #take(request: HttpIn, headers: Headers): HttpOut {
    const { body, parsed } = request
    const client = this.#find(request)
    if (client.owner !== ownerOf(request.auth)) throw mcpError(UNKNOWN_SESSION, {})
    if (request.isLate === true) throw mcpError(OVERLOADED, {}, SOON)
    // The unread part of the client's stream counts, regardless of the connection that the message came on.
    request.session = client.connection
    if (client.stream.waiting > 0) budgetsOf(this.service, this.limits).write.check(callerOf(request))
    client.receive(parsed === undefined ? body : JSON.stringify(parsed), request)
    return accepted(headers)
  }

  /** The client that a message belongs to, by its address. */
  #find(head: HttpHead): SseClient {
    const client = this.#clients.get(idIn(head))
    if (client === undefined) throw mcpError(UNKNOWN_SESSION, {})
    return client
  }

  /** Evicts a client that opened a stream and never sent a message, or an idle one of an owner with far more than this one. */
  #makeRoom(owner: string): void {
    const { items, isLarge } = this.#owners.largest(owner)
    const client = (isLarge ? this.#unused : this.#silent).next(items, performance.now())
    if (client === undefined) throw mcpError(SESSION_LIMIT, { limit: this.limits.sessions }, MUCH_LATER)
    this.#delete(client)
    void client.close()
    this.service.observers.count('session_evicted')
  }

  #has(client: SseClient): boolean {
    return this.#clients.has(client.id)
  }

  #delete(client: SseClient): void {
    this.#clients.delete(client.id)
    this.#owners.delete(client)
  }
}

function pathOf({ target = '' }: { readonly target?: string | undefined }): string {
  return target.split('?', 1)[0] as string
}

/** The id in the address of a message. */
function idIn({ target = '' }: HttpHead): string {
  return new URLSearchParams(target.split('?', 2)[1]).get('sessionId') ?? ''
}

function accepted(headers: Headers): HttpOut {
  return { status: 202, headers: { ...ACCEPTED, ...headers }, body: 'Accepted' }
}

function isStream(head: HttpHead): boolean {
  return pathOf(head).endsWith(STREAM)
}

/** The address for messages: next to the stream, on the same server. */
function addressOf(head: HttpHead): string {
  const folder = pathOf(head)
    .slice(0, -STREAM.length)
    .replace(/^[/\\]+/, '')
  return folder === '' ? MESSAGES : `/${folder}${MESSAGES}`
}
