import { toMs } from '../base/duration.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Duration } from '../base/duration.ts'
import { callable, DURATION, FLAG, object, SIGNAL, type KindsOf } from '../base/kinds.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What one request may do differently. */
export interface CallOptions {
  /** Silence that ends the request; progress begins it anew. */
  readonly timeout?: Duration
  /** The longest that the request may take. */
  readonly total?: Duration
  readonly signal?: AbortSignal
  /** HTTP headers for this request only. */
  readonly headers?: Readonly<Record<string, string>>
  readonly onProgress?: (progress: Progress) => void
  /** Says that repeating the request does no harm, so that it may be sent again when its answer is lost. */
  readonly idempotent?: boolean
  /** Members of `_meta` to send along. */
  readonly meta?: JsonObject
}

export const CALL_OPTIONS: KindsOf<CallOptions> = {
  timeout: DURATION,
  total: DURATION,
  signal: SIGNAL,
  headers: object<Readonly<Record<string, string>>>('an object: header values by name'),
  onProgress: callable<NonNullable<CallOptions['onProgress']>>(),
  idempotent: FLAG,
  meta: object<JsonObject>(),
}

/** A request on its way through the middleware of a client. */
export interface ClientRequest {
  readonly method: string
  readonly params: JsonObject
  readonly options: CallOptions
}

/** Wraps requests. `next` may be called once, with what should differ. */
export type ClientMiddleware = (
  request: ClientRequest,
  next: (changed?: Partial<Pick<ClientRequest, 'params' | 'options'>>) => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** A plug-in, as far as a client uses it; its other parts are for servers. */
export interface ClientPlugin {
  /** Wraps every request of the client. */
  readonly clientMiddleware?: ClientMiddleware
  readonly middleware?: unknown
  readonly observer?: unknown
  readonly endpoints?: unknown
  readonly visible?: unknown
}

/** The options of a call, as a connection takes them. */
export function toRequestOptions(options: CallOptions): RequestOptions {
  const { timeout, total, signal, headers, onProgress, idempotent } = options
  return {
    idleMs: timeout === undefined ? undefined : toMs(timeout, 'timeout'),
    totalMs: total === undefined ? undefined : toMs(total, 'total'),
    signal,
    headers,
    onProgress,
    repeatable: idempotent,
  }
}
