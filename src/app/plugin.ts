import { callable, type KindsOf } from '../base/kinds.ts'
import { checkOptions } from '../base/options.ts'
import type { ClientMiddleware } from '../client/options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Observer } from '../rpc/observer.ts'
import type { Context } from '../server/context.ts'
import type { VisibleItem } from '../server/visibility.ts'
import type { WebHandler } from '../transport/http/server/web-endpoint.ts'
import type { Middleware } from './types.ts'

/** Several additions in one object. Servers and clients each use the parts that are for them. */
export interface Plugin<Ctx = Context> {
  /** Wraps every request to the server. */
  readonly middleware?: Middleware<Ctx> | undefined
  /** Wraps every request of the client. */
  readonly clientMiddleware?: ClientMiddleware | undefined
  /** Sees the start and end of every request to the server. */
  readonly observer?: Observer | undefined
  /** Web handlers for other paths of the HTTP listener, such as `/metrics`. */
  readonly endpoints?: Readonly<Record<string, WebHandler>> | undefined
  /** Whether a caller sees a tool, resource, template or prompt. */
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

/** Checks the parts of a plug-in. */
export function checkPlugin(where: string, plugin: Plugin<never>): void {
  checkOptions(where, plugin, PARTS)
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
