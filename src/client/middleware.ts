import type { JsonObject } from '../protocol/jsonrpc.ts'
import { STREAMED_CALL } from '../protocol/meta.ts'
import { anything, callable, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { ClientMiddleware, ClientPlugin, ClientRequest } from './options.ts'

const PARTS: KindsOf<ClientPlugin> = {
  clientMiddleware: callable<ClientMiddleware>(),
  middleware: anything<unknown>(),
  observer: anything<unknown>(),
  endpoints: anything<unknown>(),
  visible: anything<unknown>(),
}

type Handler = (request: ClientRequest) => JsonObject | Promise<JsonObject>

/** The middleware of a client, which wraps its requests and its answers. The first added is the outermost. */
export class Middleware {
  readonly #entries: { readonly method: string | undefined; readonly wrap: ClientMiddleware }[] = []

  /** Adds middleware for a method, or for all requests of the client if there is none. */
  add(method: string | undefined, wrap: ClientMiddleware | undefined): void {
    if (typeof wrap !== 'function') throw badOption('use', 'the middleware is not a function')
    this.#entries.push({ method, wrap })
  }

  /** Adds the parts of a plug-in that are for clients. */
  plugIn(plugin: ClientPlugin): void {
    checkOptions('use', plugin, PARTS)
    if (plugin.clientMiddleware !== undefined) this.add(undefined, plugin.clientMiddleware)
  }

  /**
   * Runs a request of the client through the middleware for its method and for all methods. A streamed call also passes the middleware
   * for `tools/call`, so that no approval or audit is bypassed.
   */
  send(request: ClientRequest, handler: Handler): Promise<JsonObject> {
    return this.#run(request, handler, true)
  }

  /** Runs a question of the server through the middleware for its method. */
  answer(request: ClientRequest, handler: Handler): Promise<JsonObject> {
    return this.#run(request, handler, false)
  }

  async #run(request: ClientRequest, handler: Handler, includeUnscoped: boolean): Promise<JsonObject> {
    if (this.#entries.length === 0) return handler(request)
    const { method: sent } = request
    const seen = sent === STREAMED_CALL ? 'tools/call' : sent
    const wraps = this.#entries.filter(({ method }) =>
      method === undefined ? includeUnscoped : method === sent || method === seen,
    )
    const run = wraps.reduceRight<(request: ClientRequest) => Promise<JsonObject>>(
      (next, { method = seen, wrap }) =>
        async (request) =>
          (await wrap({ ...request, method }, ({ params = request.params, options = request.options } = {}) =>
            next({ ...request, params, options }),
          )) ?? (await import('./unsendable.ts')).noResult(method),
      async (request) => handler(request),
    )
    return run(request)
  }
}
