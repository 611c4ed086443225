import type { Some } from '../base/some.ts'
import { toMs } from '../base/duration.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Duration } from '../base/duration.ts'
import { callable, DURATION, FLAG, object, SIGNAL, type KindsOf } from '../base/kinds.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** Options for a single request. */
export interface CallOptions {
  /** How long the request waits without a response or progress before it fails. */
  readonly timeout?: Duration | undefined
  /** The longest time that the request may take. */
  readonly total?: Duration | undefined
  readonly signal?: AbortSignal | undefined
  /** HTTP headers for this request only. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Whether repeating the request is harmless, so that it may be sent again if the connection fails. */
  readonly idempotent?: boolean | undefined
  /** Members to add to `_meta`. */
  readonly meta?: JsonObject | undefined
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

/** A request as middleware sees it. */
export interface ClientRequest {
  readonly method: string
  readonly params: JsonObject
  readonly options: CallOptions
}

/** Wraps requests. `next` may be called once, with the parts of the request to change. */
export type ClientMiddleware = (
  request: ClientRequest,
  next: (changed?: Some<Pick<ClientRequest, 'params' | 'options'>>) => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** A plug-in for clients. Its other parts are for servers. */
export interface ClientPlugin {
  /** Wraps every request of the client. */
  readonly clientMiddleware?: ClientMiddleware | undefined
  readonly middleware?: unknown
  readonly observer?: unknown
  readonly endpoints?: unknown
  readonly visible?: unknown
}

/** The options of a request that may be sent again unless they forbid it: lists, reads and the like. */
export function repeatable(options: CallOptions): CallOptions {
  return { ...options, idempotent: options.idempotent ?? true }
}

/** Converts the options of a call to those of a connection. */
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
