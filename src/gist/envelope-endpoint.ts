import { type McpError, mcpError } from '../errors/error.ts'
import { LATER } from '../errors/retry-after.ts'
import { SHUTTING_DOWN } from '../errors/rpc.ts'
import type { RequestId } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import { InFlight } from '../rpc/in-flight.ts'
import type { Service } from '../rpc/service.ts'
import type { Authentication } from '../transport/http/server/auth-method.ts'
import { checkCaller } from '../transport/http/server/authenticate.ts'
import { withErrorHeaders } from '../transport/http/server/error-headers.ts'
import { toJson } from '../transport/http/server/exchange.ts'
import type { Guard } from '../transport/http/server/guard.ts'
import type {
  ExtraEndpoint,
  Headers,
  HttpHandler,
  HttpHead,
  HttpIn,
  HttpOut,
} from '../transport/http/server/parts.ts'
import { sizeOf } from '../transport/http/server/responder.ts'
import { encodeFailure, statusOf } from './encode.ts'

/** The parts that the endpoints of the gist share with that of MCP. */
export interface EnvelopeEndpointOptions {
  readonly limits: Limits
  readonly guard: Guard
  readonly authenticate?: HttpHandler['authenticate']
  /** Creates the challenge for missing scopes. */
  readonly authentication?: Authentication | undefined
}

/** Answers HTTP requests with envelopes, behind the same guard, authentication and limits as MCP. */
export abstract class EnvelopeEndpoint implements ExtraEndpoint {
  readonly option = 'gist'
  readonly entry = '/gist'
  abstract readonly paths: ExtraEndpoint['paths']
  /** The methods that it allows. */
  protected abstract readonly allowed: string
  readonly limits: Limits
  readonly service: Service
  readonly authenticate: HttpHandler['authenticate']
  protected readonly inFlight: InFlight<HttpOut, string>
  readonly #guard: Guard
  readonly #authentication: Authentication | undefined
  /** Revocations of callers concern it no longer. */
  readonly #unwatch: () => void

  constructor(service: Service, { limits, guard, authenticate, authentication }: EnvelopeEndpointOptions) {
    this.service = service
    this.limits = limits
    this.authenticate = authenticate
    this.#guard = guard
    this.#authentication = authentication
    this.inFlight = new InFlight(service, limits)
    this.#unwatch = service.leases.watch((concerns) => this.inFlight.cancelOf(concerns))
  }

  /** Whether a request target belongs to this endpoint. */
  abstract owns(target?: string): boolean

  /** Throws if the head alone shows that a request cannot be answered. */
  protected abstract checkHead(head: HttpHead): void

  /** Answers a request of a caller that may send some. `onId` takes the id for the envelope of an error. */
  protected abstract respond(
    request: HttpIn,
    headers: Headers,
    begun: number,
    onId: (id: string | undefined) => void,
  ): HttpOut | Promise<HttpOut>

  /** Whether new requests are rejected. */
  get closing(): boolean {
    return this.inFlight.closing
  }

  /** Rejects a request by its head alone. */
  rejectHead(head: HttpHead): HttpOut | undefined {
    try {
      if (head.method === 'OPTIONS')
        return { status: 204, headers: this.#guard.preflight(head, this.allowed) }
      head.cors = this.#guard.check(head)
      if (this.closing) throw mcpError(SHUTTING_DOWN, {}, LATER)
      this.checkHead(head)
      return undefined
    } catch (thrown) {
      return this.rejectUnread(head, thrown)
    }
  }

  rejectUnread(head: HttpHead, thrown: unknown): HttpOut {
    return this.fail(undefined, thrown, undefined, head.cors ?? this.#guard.cors(head))
  }

  answer(request: HttpIn): HttpOut | Promise<HttpOut> {
    const begun = performance.now()
    const headers = request.cors ?? this.#guard.cors(request)
    let id: string | undefined
    try {
      checkCaller(this.service, request)
      return this.respond(request, headers, begun, (known) => (id = known))
    } catch (thrown) {
      const reply = (error: McpError): HttpOut => this.errorReply(id, error, headers, begun)
      return this.inFlight.rejectRequest(thrown, { size: sizeOf(request), source: request }, reply)
    }
  }

  fail(id: RequestId | undefined, thrown: unknown, _dialect: unknown, headers: Headers): HttpOut {
    const error = this.inFlight.reject(thrown)
    return this.errorReply(typeof id === 'string' ? id : undefined, error, headers, performance.now())
  }

  /** Waits for running requests, up to a limit. */
  async close(): Promise<void> {
    await this.inFlight.drain(this.limits.drainMs)
    this.inFlight.abortAll()
    this.#unwatch()
  }

  protected errorHeaders(error: McpError, headers: Headers): Headers {
    return withErrorHeaders(error, headers, {
      allow: this.allowed,
      challenge: this.#authentication,
      path: this.entry,
    })
  }

  protected errorReply(id: string | undefined, error: McpError, headers: Headers, begun: number): HttpOut {
    const text = encodeFailure(id, error, performance.now() - begun)
    return toJson(statusOf(error), text, this.errorHeaders(error, headers))
  }
}
