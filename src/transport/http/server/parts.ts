import type { RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import { ownerOf, type Auth, type Channel, type RequestLifetime } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import type { Reply } from '../../../wire/reply.ts'
import type { Sweeper } from './sweeper.ts'

/** The parts of a request head that we use. */
export interface HttpHead {
  readonly method: string
  /** The path and query, as the client sent them. */
  readonly target?: string
  /** `http` or `https`, as the client used it. Without a trusted proxy, another one may have ended TLS. */
  readonly scheme?: string
  /** The address of the client, if known. */
  readonly ip?: string | undefined
  /** The connection it arrived on, if known. */
  readonly connection?: object
  /** Looks up a header by its lower-case name. `host` is the one that the client used, as far as proxies are trusted. */
  header(name: string): string | undefined
  /** All headers. */
  headers?(): Readonly<Record<string, string>>
  /** The SHA-256 thumbprint of the client certificate, in base64url, if there is one. */
  readonly certificate?: string | undefined
  /** The headers of every reply: those for CORS, once the guard has decided, and those of the authenticator. */
  cors?: Headers | undefined
}

/** The parts of an HTTP request that we use. Every adapter converts its own requests to this. */
export interface HttpIn extends HttpHead {
  /** The text of the body; empty when the body was already parsed, or is no longer needed. */
  body: string
  /** The body as a framework parsed it. */
  parsed?: unknown
  /** The size of a body that is not, or no longer, text, or of a part of one, in characters. */
  size?: number
  readonly auth?: Auth | undefined
  /** The owner of the client certificate, if there is one. */
  readonly certified?: Auth | undefined
  /** Its session, once that is known. */
  session?: object | undefined
  /** Why its session cannot be used, if nodes share sessions. */
  problem?: Error
  /** Whether it was queued for so long that requests in it are rejected. */
  readonly isLate?: boolean
  /** The channel that it shares with the other messages of its batch. */
  readonly batch?: Channel
  /** Calls `listener` when the client disconnects before the reply is complete. */
  onGone(listener: () => void): void
  readonly lifetime?: RequestLifetime | undefined
}

/** The caller of a request: an authenticated one, or else a session or a connection. */
export function callerOf({ auth, session, connection }: HttpIn): unknown {
  return auth === undefined ? (session ?? connection) : ownerOf(auth)
}

export type Headers = Readonly<Record<string, string>>

/** One HTTP reply: a body, or a stream that starts when a sink is attached. */
export interface HttpOut {
  readonly status: number
  readonly headers: Headers
  /** The values of `Set-Cookie`, the only header that may occur several times. */
  readonly cookies?: readonly string[]
  readonly body?: Reply
  /** A body that may not be text. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** A body that is read as the client reads it, and cancelled when the client leaves. */
  readonly source?: Source
  readonly stream?: { attach(sink: Sink): void }
}

/** A body that is not there as a whole. */
export interface Source {
  readonly readable: ReadableStream<Uint8Array>
  /**
   * Calls the listener now and on every change, with the number of bytes in memory and how many of them were not taken from
   * `readable`. There is one listener: the one before gets 0.
   */
  watch(listener: (held: number, left: number) => void): void
  /** Discards the rest. */
  fail(error: Error): void
}

/** The caller of a request, or the reply to send instead of an answer. */
export type Authenticated = { readonly auth: Auth | undefined } | { readonly reply: HttpOut }

/** Handles HTTP requests for any adapter. It sees the head of a request first, and then all of it. */
export interface HttpHandler {
  readonly limits: Limits
  /** The server behind it. */
  readonly service: Service
  /** The sweeper of its sessions and streams. */
  readonly sweeper?: Sweeper
  /** Whether responses use other connections than requests, so that they matter even if the request's is closed. */
  readonly answersElsewhere?: boolean
  /** Rejects a request by its head: if this returns a reply, the body is not read. */
  rejectHead(head: HttpHead): HttpOut | undefined
  /** Identifies the caller before the body is read; absent where the adapter does that. */
  readonly authenticate?: ((head: HttpHead) => Authenticated | Promise<Authenticated>) | undefined
  /** The reply to a request whose body is not read. */
  rejectUnread(head: HttpHead, thrown: unknown): HttpOut
  answer(request: HttpIn): HttpOut | Promise<HttpOut>
  /** Creates an error reply. */
  fail(id: RequestId | undefined, thrown: unknown, dialect: Dialect | undefined, headers: Headers): HttpOut
}

/** A handler at its own paths next to an endpoint. */
export interface ExtraEndpoint extends HttpHandler {
  /** The option that enables it. */
  readonly option: string
  /** Its paths on our own listener. */
  readonly paths: { has(path: string): boolean }
  /** The path that clients connect to, whose metadata and audience hold for all of them; undefined if callers need not authenticate. */
  readonly entry?: string | undefined
  /** Whether a request target belongs to this handler, wherever it is mounted. */
  owns(target: string | undefined): boolean
  close(): Promise<void>
}

/** Receives the frames of a stream. */
export interface Sink {
  write(text: string): void
  /** Writes the last texts, if any, and ends the reply once everything has been sent. */
  end(...texts: readonly string[]): void
  /** Aborts the connection and discards what was not sent. */
  abort(): void
  /** Bytes written that the client has not read yet. */
  readonly waiting: number
  /** Those of the write that is under way which the system has not sent yet; undefined if it does not say. */
  readonly unsent?: number | undefined
  onGone(listener: () => void): void
}

export const NO_HEADERS: Headers = Object.freeze({})

/** The headers of a JSON reply without others; a single object, so that it can be recognised. */
export const JSON_HEADERS: Headers = Object.freeze({ 'content-type': 'application/json' })

export const STREAM_HEADERS: Headers = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
})

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Whether the body of a request is read. */
export function hasBody({ method }: HttpHead): boolean {
  return WITH_BODY.has(method)
}
