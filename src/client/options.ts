import type { Some } from '../base/some.ts'
import { toMs } from '../base/duration.ts'
import type { RequestOptions } from './connection-options.ts'
import type { Duration } from '../base/duration.ts'
import { callable, DURATION, FLAG, object, SIGNAL, type KindsOf } from '../base/kinds.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { CLIENT_AUTH, type ClientAuth } from '../rpc/client-auth.ts'

/** How far a request has come, as the server reports it. */
export interface Progress {
  /**
   * How much is done. It grows with each report, in a unit that the server chooses. Undefined where the call became a task of 2026-07-28, which
   * reports only messages.
   */
  readonly progress?: number | undefined
  /** How much there is to do, in the same unit; undefined if the server does not know. */
  readonly total?: number | undefined
  /** A description of the current step, for people; undefined if the server sent none. Since 2025-03-26. */
  readonly message?: string | undefined
}

/**
 * Options for a single request.
 *
 * @example
 * await client.call('export', { year: 2026 }, { total: '30m', signal, onProgress: ({ message }) => show(message) })
 */
export interface CallOptions {
  /**
   * How long the request waits without a response or progress before it fails. Default: the `timeout` of the connection, which
   * is 60 s.
   */
  readonly timeout?: Duration | undefined
  /**
   * The longest time that the request may take, with all its retries and questions. Default: the `total` of the connection,
   * which is 5 min.
   */
  readonly total?: Duration | undefined
  /** Cancels the request, on the server too: the promise rejects with kind `cancelled`. Default: nothing does. */
  readonly signal?: AbortSignal | undefined
  /** HTTP headers for this request only. Default: none. Transports other than HTTP ignore them. The result is not cached. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Credentials for this request only, such as `token(() => tokenOf(user))` of `pierhead/auth/client`; pass the same object each time to log
   * in once. Default: the `auth` of the connection. Transports other than HTTP reject it. The result is not cached.
   */
  readonly auth?: ClientAuth | undefined
  /**
   * Called with the progress of a call, read or prompt, if the server reports any. At 2026-07-28 a call that became a task has only
   * messages, and `progress` is then undefined. If it throws, the request is cancelled and rejects with that error. Default: progress
   * only restarts `timeout`.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Called with the id of the task that a call became, if it did; `client.resume` takes it. Default: nothing is. */
  readonly onTask?: ((id: string) => void) | undefined
  /**
   * Whether repeating the request is harmless, so that it may be sent again if the connection fails. Default: the hints of a listed
   * tool decide for calls; lists, reads, prompts and completions are `true`, and `request` is `false`.
   */
  readonly idempotent?: boolean | undefined
  /** Members to add to `_meta` of the request. The result is not cached. Default: none. */
  readonly meta?: JsonObject | undefined
}

export const CALL_OPTIONS: KindsOf<CallOptions> = {
  timeout: DURATION,
  total: DURATION,
  signal: SIGNAL,
  headers: object<Readonly<Record<string, string>>>('an object: header values by name'),
  auth: CLIENT_AUTH,
  onProgress: callable<NonNullable<CallOptions['onProgress']>>(),
  onTask: callable<NonNullable<CallOptions['onTask']>>(),
  idempotent: FLAG,
  meta: object<JsonObject>(),
}

/** A request as middleware sees it. */
export interface ClientRequest {
  /** The method, such as `tools/call`. */
  readonly method: string
  /** The params as they will be sent. Do not change them; pass others to `next`. */
  readonly params: JsonObject
  /** The options of the call. For a question of the server they contain only `signal`. */
  readonly options: CallOptions
}

/**
 * Wraps requests. `next` may be called once, with the parts of the request to change. Return its result, or another; throw to fail.
 *
 * @example
 * client.use(async (request, next) => {
 *   const begun = performance.now()
 *   const result = await next()
 *   console.log(request.method, performance.now() - begun)
 *   return result
 * })
 */
export type ClientMiddleware = (
  request: ClientRequest,
  next: (changed?: Some<Pick<ClientRequest, 'params' | 'options'>>) => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>

/** A plug-in for clients. Its other parts are for servers. */
export interface ClientPlugin {
  /** Wraps every request of the client. Default: nothing does. */
  readonly clientMiddleware?: ClientMiddleware | undefined
  /** For servers; clients ignore it. */
  readonly middleware?: unknown
  /** For servers; clients ignore it. */
  readonly observer?: unknown
  /** For servers; clients ignore it. */
  readonly endpoints?: unknown
  /** For servers; clients ignore it. */
  readonly visible?: unknown
}

/** The options of a request that may be sent again unless they forbid it: lists, reads and the like. */
export function repeatable(options: CallOptions): CallOptions {
  return { ...options, idempotent: options.idempotent ?? true }
}

/** Converts the options of a call to those of a connection. */
export function toRequestOptions(options: CallOptions): RequestOptions {
  const { timeout, total, signal, headers, auth, onProgress, onTask, idempotent } = options
  return {
    idleMs: timeout === undefined ? undefined : toMs(timeout, 'timeout'),
    totalMs: total === undefined ? undefined : toMs(total, 'total'),
    signal,
    headers,
    auth,
    onProgress,
    onTask,
    reported: onProgress && {},
    repeatable: idempotent,
  }
}
