import { onWorkers } from '../../../base/runtime.ts'
import { Deferred } from '../../../base/deferred.ts'
import { mcpError } from '../../../errors/error.ts'
import { OVERLOADED, SHUTTING_DOWN } from '../../../errors/rpc.ts'
import { LATER, SOON } from '../../../errors/retry-after.ts'
import type { RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { anonymousNetwork, type Auth } from '../../../rpc/call.ts'
import { Load } from '../../../rpc/load.ts'
import type { Service } from '../../../rpc/service.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { budgetsOf } from '../../io/budgets.ts'
import { within } from '../../io/timer.ts'
import { badVerb } from './bad-verb.ts'
import type { Authentication } from './auth-method.ts'
import { createIdentify } from './authenticate.ts'
import { bodyRead } from './given-body.ts'
import { reportSiteError } from './given-caller.ts'
import type { Guard } from './guard.ts'
import { hostOf } from './hosts.ts'
import {
  NO_HEADERS,
  callerOf,
  hasBody,
  type ExtraEndpoint,
  type Headers as HeaderRecord,
  type HttpHandler,
  type HttpHead,
  type HttpIn,
  type HttpOut,
  type Source,
} from './parts.ts'
import { dropBody, sizeOf } from './responder.ts'
import { readWebBody, type WebBody } from './web-body.ts'
import { isUrl, parseUrl } from '../../../protocol/url.ts'

/** Answers web requests at a path next to MCP. */
export type WebHandler = (
  request: Request,
  caller: {
    /** The authenticated caller; undefined if there is none. */
    readonly auth: Auth | undefined
  },
) => Response | Promise<Response>

export interface WebEndpointOptions {
  readonly limits: Limits
  readonly guard: Guard
  /** Identifies callers that have credentials. Everyone is served. */
  readonly authentication?: Authentication | undefined
  readonly fail: HttpHandler['fail']
  readonly handlers: ReadonlyMap<string, WebHandler>
}

const VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const ALLOWED = [...VERBS, 'OPTIONS'].join(', ')

/** Web handlers at their own paths, behind the same host and origin checks as MCP. */
export class WebEndpoint implements ExtraEndpoint {
  readonly option = 'use'
  readonly service: Service
  readonly limits: Limits
  readonly paths: ReadonlySet<string>
  readonly authenticate: HttpHandler['authenticate']
  readonly #options: WebEndpointOptions
  /** Requests that run here. They have places of their own, so that a server full of MCP requests still answers its probes. */
  readonly #load = new Load()
  readonly #running = new Set<Promise<unknown>>()
  #closing = false

  constructor(service: Service, options: WebEndpointOptions) {
    this.service = service
    this.limits = options.limits
    this.paths = new Set(options.handlers.keys())
    this.#options = options
    this.authenticate = createIdentify(options.limits, options.authentication?.authenticate)
  }

  owns(target: string | undefined): boolean {
    return this.#find(target) !== undefined
  }

  rejectHead(head: HttpHead): HttpOut | undefined {
    try {
      const { guard } = this.#options
      if (head.method === 'OPTIONS') return { status: 204, headers: guard.preflight(head, ALLOWED) }
      head.cors = guard.check(head)
      if (!VERBS.includes(head.method)) throw badVerb(head.method, `use one of ${VERBS.join(', ')}`)
      if (this.#closing) throw mcpError(SHUTTING_DOWN, {}, LATER)
      return undefined
    } catch (thrown) {
      const out = this.rejectUnread(head, thrown)
      return out.status === 405 ? { ...out, headers: { ...out.headers, allow: ALLOWED } } : out
    }
  }

  rejectUnread(head: HttpHead, thrown: unknown): HttpOut {
    return this.fail(undefined, thrown, undefined, head.cors ?? this.#options.guard.cors(head))
  }

  async answer(request: HttpIn): Promise<HttpOut> {
    const cors = request.cors ?? this.#options.guard.cors(request)
    const running = this.#run(request, cors)
    this.#running.add(running)
    try {
      return await running
    } catch (thrown) {
      reportSiteError(this.service, thrown)
      return this.fail(undefined, thrown, undefined, cors)
    } finally {
      this.#running.delete(running)
    }
  }

  fail(
    id: RequestId | undefined,
    thrown: unknown,
    dialect: Dialect | undefined,
    headers: HeaderRecord,
  ): HttpOut {
    return this.#options.fail(id, thrown, dialect, headers)
  }

  async close(): Promise<void> {
    this.#closing = true
    await within(this.limits.drainMs, (done) => void Promise.allSettled(this.#running).then(done))
  }

  async #run(request: HttpIn, cors: HeaderRecord): Promise<HttpOut> {
    const gone = new AbortController()
    const response = await this.#handle(request, gone)
    const { status } = response
    if (status === 0) throw new Error('the web handler returned Response.error()')
    const { 'set-cookie': _, 'content-length': length, ...others } = endToEnd(response.headers)
    const vary = [others['vary'], cors['vary']].filter((value) => value !== undefined).join(', ')
    const headers = { ...others, ...cors, ...(vary !== '' && { vary }) }
    const cookies = response.headers.getSetCookie()
    const out = { status, headers, ...(cookies.length > 0 && { cookies }) }
    if (response.bodyUsed) throw new TypeError('the web handler returned a Response whose body was read')
    const body = response.body === null ? undefined : await this.#read(response.body, gone.signal)
    if (body?.source !== undefined) this.#reserve(body.source, callerOf(request))
    if (request.method !== 'HEAD') return { ...out, ...body }
    // Without a length of its own, a reply to HEAD must not claim that the body is empty.
    if (body?.source !== undefined) {
      void body.source.readable.cancel()
      return length === undefined ? { ...out, source: EMPTY } : withLength(length)
    }
    return withLength(length ?? (body && String(body.bytes.length)))

    function withLength(known: string | undefined): HttpOut {
      return known === undefined ? out : { ...out, headers: { ...headers, 'content-length': known } }
    }
  }

  /** Runs the handler. The request counts until it has returned a response. */
  async #handle(request: HttpIn, gone: AbortController): Promise<Response> {
    const handle = this.#find(request.target) as WebHandler
    const { limits } = this
    const { load } = this.service
    const caller = callerOf(request)
    this.#load.checkCaller(caller, limits.inFlight)
    const network = anonymousNetwork(request)
    if (!this.#load.hasPlace(caller, network, limits.allInFlight)) throw mcpError(OVERLOADED, {}, SOON)
    const size = sizeOf(request)
    const refusal = load.refusalFor(size, limits)
    if (refusal !== undefined) throw refusal
    const entry = { isCounted: false }
    this.#load.enter(entry, caller, 0, network)
    load.hold(size)
    try {
      request.onGone(() => gone.abort())
      const given = toWebRequest(request, gone.signal)
      // What the handler does not keep is free while it runs.
      dropBody(request)
      return await handle(given, { auth: request.auth })
    } finally {
      load.hold(-size)
      this.#load.leave(entry, caller, 0)
    }
  }

  /** Counts what was produced of a body as unsent until an adapter does. Throws when too much is unsent. */
  #reserve(source: Source, caller: unknown): void {
    if (onWorkers) return
    const { write } = budgetsOf(this.service, this.limits)
    try {
      write.check(caller)
    } catch (thrown) {
      void source.readable.cancel()
      throw thrown
    }
    let held = 0
    source.watch((bytes) => {
      write.count(caller, bytes - held)
      held = bytes
    })
  }

  async #read(body: ReadableStream<Uint8Array>, gone: AbortSignal): Promise<WebBody> {
    const ended = new Deferred<void>()
    const read = await readWebBody(body, {
      gone,
      // Too late for a reply, but the error is reported.
      onBroken: (thrown) => void this.fail(undefined, thrown, undefined, NO_HEADERS),
      onEnd: () => ended.resolve(),
    })
    if (read.source === undefined) return read
    this.#running.add(ended.promise)
    void ended.promise.then(() => this.#running.delete(ended.promise))
    return read
  }

  /** The handler for a target, wherever the server is mounted. */
  #find(target = ''): WebHandler | undefined {
    const path = target.split('?', 1)[0] as string
    const owners = [...this.#options.handlers].filter(([own]) => path.endsWith(own))
    return owners.toSorted(([one], [other]) => other.length - one.length)[0]?.[1]
  }
}

/** A body of unknown length without content. */
const EMPTY: Source = {
  get readable() {
    return new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  },
  watch: () => undefined,
  fail: () => undefined,
}

/** The headers of a response without those that belong to one connection: whoever sends it decides about these. */
function endToEnd(headers: Headers): Record<string, string> {
  const named = (headers.get('connection') ?? '').toLowerCase().split(',')
  const own = new Set([...HOP_BY_HOP, ...named.map((name) => name.trim())])
  return Object.fromEntries([...headers].filter(([name]) => !own.has(name)))
}

function toWebRequest(request: HttpIn, signal: AbortSignal): Request {
  const { method, scheme = 'http', target = '/', body, parsed } = request
  const host = request.header('host')
  const base = `${scheme}://${host ?? ''}`
  const headers = new Headers(request.headers?.())
  const text = parsed === undefined ? body : textOf(parsed, headers.get('content-type') ?? '')
  // The text may differ from what was sent, for example in its spaces or its character set.
  const { length } = new TextEncoder().encode(text)
  if (headers.get('content-length') !== String(length)) headers.delete('content-length')
  // The target may be a whole URL, and the host anything: the client chose both.
  const path = target.startsWith('/') ? target.replace(/^[/\\]+/, '/') : '/'
  const isHost = hostOf(host) !== undefined && isUrl(base)
  const url = parseUrl(path, isHost ? base : 'http://localhost')
  return new Request(url, { method, headers, signal, ...(hasBody(request) && { body: text }) })
}

/** The text of a body that a framework parsed by its type. Throws if it cannot be restored. */
function textOf(parsed: unknown, type: string): string {
  const name = (type.split(';', 1)[0] as string).trim().toLowerCase()
  if (name === 'application/json' || name.endsWith('+json')) return JSON.stringify(parsed)
  if (name !== 'application/x-www-form-urlencoded') throw bodyRead()
  const form = new URLSearchParams()
  for (const [field, given] of Object.entries(parsed ?? {}))
    for (const value of [given].flat()) {
      if (typeof value !== 'string') throw bodyRead()
      form.append(field, value)
    }
  return form.toString()
}
