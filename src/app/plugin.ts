import { abandonable } from '../base/abandonable.ts'
import type { Result } from '../rpc/dispatch.ts'
import { callable, type KindsOf } from '../base/kinds.ts'
import { badOption, checkOptions } from '../base/options.ts'
import type { ClientMiddleware } from '../client/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Observer } from '../rpc/observer.ts'
import type { Context } from '../server/context.ts'
import type { ServerService } from '../server/service.ts'
import type { VisibleItem } from '../server/visibility.ts'
import type { WebHandler } from '../transport/http/server/web-endpoint.ts'
import { checkMethod } from './misuse.ts'
import type { AnyContext, Middleware } from './types.ts'

/**
 * Several additions in one object, for `use`. Servers and clients each use the parts that are for them, and parts that are left
 * out add nothing.
 *
 * @example
 * app.use({
 *   observer: { end: ({ method }, { durationMs }) => times.observe(method, durationMs) },
 *   endpoints: { '/metrics': () => new Response(times.text()) },
 * })
 */
export interface Plugin<Ctx = Context> {
  /** Wraps every request to the server. */
  readonly middleware?: Middleware<AnyContext<Ctx>> | undefined
  /** Wraps every request of the client. */
  readonly clientMiddleware?: ClientMiddleware | undefined
  /** Sees the start and end of every request to the server. */
  readonly observer?: Observer | undefined
  /** Web handlers for other paths of the HTTP listener, such as `/metrics`. */
  readonly endpoints?: Readonly<Record<string, WebHandler>> | undefined
  /** Whether a caller sees a tool, resource, template or prompt, in addition to its own `visible`. */
  readonly visible?: ((item: VisibleItem, context: Ctx) => boolean) | undefined
}

/** Answers a request by itself, or by calling `next`. */
export type Interceptor = (call: Context, next: () => Promise<JsonObject>) => JsonObject | Promise<JsonObject>

const PARTS: KindsOf<Plugin> = {
  middleware: callable<Middleware>(),
  clientMiddleware: callable<ClientMiddleware>(),
  observer: { must: 'an object with a start or end function, or both', is: isObserver },
  endpoints: { must: `functions by path, such as { '/metrics': () => new Response(…) }`, is: areEndpoints },
  visible: callable<NonNullable<Plugin['visible']>>(),
}

/** Adds an interceptor to a server, for one method. */
export function addInterceptor(service: ServerService, method: string, interceptor: Interceptor): void {
  if (typeof interceptor !== 'function') throw badOption('intercept', 'the interceptor is not a function')
  checkMethod(service, 'intercept', method)
  service.intercept(method, (call, next) => {
    let called = false
    const pass = async (): Promise<Result> => {
      if (called) throw new Error(`interceptor called next() twice for ${method}`)
      called = true
      return next(call)
    }
    return interceptor(service.contextOf(call), () => abandonable(pass()))
  })
}

/** Adds all but the middleware of a plug-in to a server, and its web handlers to `handlers`, by path. */
export function addParts(
  service: ServerService,
  handlers: Map<string, WebHandler>,
  { observer, endpoints = {}, visible }: Plugin,
): void {
  if (observer !== undefined) service.observers.add(observer)
  if (visible !== undefined) service.restrict(visible)
  for (const [path, handler] of Object.entries(endpoints)) handlers.set(path, handler)
}

/** Checks the parts of a plug-in for a server, which serves HTTP already or not. */
export function checkPlugin(where: string, plugin: Plugin<never>, isOpen: boolean): void {
  checkOptions(where, plugin, PARTS)
  if (isOpen && Object.keys(plugin.endpoints ?? {}).length > 0)
    throw badOption(where, 'add endpoints before listen() or a mount opens HTTP')
}

function isObserver(value: unknown): value is Observer {
  const { start, end } = (value ?? {}) as Observer
  const parts = [start, end].filter((part) => part !== undefined)
  return parts.length > 0 && parts.every((part) => typeof part === 'function')
}

function areEndpoints(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).every(
    ([path, handler]) => path.startsWith('/') && typeof handler === 'function',
  )
}
