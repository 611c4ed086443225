import type { RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import type { Dialect } from '../../../protocol/switches.ts'
import type { Auth, Channel } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'
import type { Reply } from '../../../wire/reply.ts'

/** The head of an HTTP request, as far as we look at it. */
export interface HttpHead {
  readonly method: string
  /** The path and the query, as the client sees them. */
  readonly target?: string
  /** Looks up a header by its lower-case name. */
  header(name: string): string | undefined
  /** All headers. */
  headers?(): Readonly<Record<string, string>>
  /** The headers that let its web page read the reply, once the guard has decided. */
  cors?: Headers | undefined
  /** Whether the request came over the loopback interface; undefined where that is not known. */
  readonly local?: boolean
}

/** The least that an HTTP request must be for us. Every adapter reduces its own to this. */
export interface HttpIn extends HttpHead {
  /** The text of the body; empty when the body was parsed already. */
  readonly body: string
  /** The body as a framework parsed it. */
  readonly parsed?: unknown
  readonly auth?: Auth | undefined
  /** The connection that it came on, where that is known. */
  readonly connection?: object
  /** Whether it waited for so long that a request is refused. */
  readonly isLate?: boolean
  /** The way back that it shares with the other messages of its batch. */
  readonly batch?: Channel
  /** Calls back when the client goes away before the reply is complete. */
  onGone(listener: () => void): void
}

export type Headers = Readonly<Record<string, string>>

/** One HTTP reply: a whole body, or a stream that begins when it is attached. */
export interface HttpOut {
  readonly status: number
  readonly headers: Headers
  readonly body?: Reply
  readonly stream?: { attach(sink: Sink): void }
}

/** The caller of a request, or the reply to send instead of an answer. */
export type Authenticated = { readonly auth: Auth | undefined } | { readonly reply: HttpOut }

/** What adapters serve: it decides by the head first, and then by the whole request. */
export interface HttpHandler {
  readonly limits: Limits
  /** What the server has to tell and to count. */
  readonly service: Service
  /** Whether answers come on other connections than requests, so that somebody may wait for them when that of a request is gone. */
  readonly answersElsewhere?: boolean
  /** A reply here means that the body need not be read. */
  refuse(head: HttpHead): HttpOut | undefined
  /** Establishes who calls before the body is read; absent where the adapter knows that itself. */
  readonly authenticate?: ((head: HttpHead) => Authenticated | Promise<Authenticated>) | undefined
  /** The reply to a request that is not even read to its end. */
  rejectUnread(head: HttpHead, thrown: unknown): HttpOut
  answer(request: HttpIn): HttpOut | Promise<HttpOut>
  /** The reply that tells of an error. */
  fail(id: RequestId | undefined, thrown: unknown, dialect: Dialect | undefined, headers: Headers): HttpOut
}

/** A site at paths of its own beside that of an endpoint. */
export interface ExtraEndpoint extends HttpHandler {
  /** The option that opens it. */
  readonly option: string
  /** Where it is on a listener of our own. */
  readonly paths: ReadonlySet<string>
  /** Whether a request for a target, wherever it is mounted, is one for this site. */
  owns(target: string | undefined): boolean
  close(): Promise<void>
}

/** Where the frames of a stream go. */
export interface Sink {
  write(text: string): void
  /** Writes what is left, if anything, and ends the reply once everything written has been sent. */
  end(text?: string): void
  /** Drops the connection, and what was not sent with it. */
  abort(): void
  /** Characters or bytes written that the client has not taken yet. */
  readonly waiting: number
  onGone(listener: () => void): void
}

export const NO_HEADERS: Headers = Object.freeze({})

/** The headers of a JSON reply that has no others; one object, so that it is recognised. */
export const JSON_HEADERS: Headers = Object.freeze({ 'content-type': 'application/json' })

export const STREAM_HEADERS: Headers = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
})
