import { mcpError } from '../errors/error.ts'
import { BAD_OPTION } from '../errors/base.ts'
import { checkOptions } from '../base/options.ts'
import type { ClientMiddleware } from '../client/options.ts'
import type { Middleware, Result } from '../rpc/dispatch.ts'
import type { Observer } from '../rpc/observer.ts'
import type { Context } from '../server/context.ts'
import type { VisibleItem } from '../server/visibility.ts'
import type { WebHandler } from '../transport/http/server/web-endpoint.ts'

/** Several additions under one name. A server uses the parts for servers, a client those for clients. */
export interface Plugin<Ctx = Context> {
  /** Wraps every request to the server. */
  readonly middleware?: Middleware<Ctx>
  /** Wraps every request of the client. */
  readonly clientMiddleware?: ClientMiddleware
  /** Sees the start and end of every request to the server. */
  readonly observer?: Observer
  /** Web handlers at further paths of the HTTP listener, such as `/metrics`. */
  readonly endpoints?: Readonly<Record<string, WebHandler>>
  /** Whether a caller sees a tool, resource, template or prompt. */
  readonly visible?: (item: VisibleItem, context: Ctx) => boolean
}

/** Answers a request by itself, or by calling `next`. */
export type Interceptor = (call: Context, next: () => Promise<Result>) => Result | Promise<Result>

const PARTS: readonly string[] = ['middleware', 'clientMiddleware', 'observer', 'endpoints', 'visible']

/** Rejects what is not a plug-in, with what it should be. */
export function checkPlugin(where: string, plugin: Plugin<never>): void {
  checkOptions(where, plugin, PARTS)
  for (const name of ['middleware', 'clientMiddleware', 'visible'] as const)
    if (!['function', 'undefined'].includes(typeof plugin[name]))
      throw invalid(where, `${name} is not a function`)
  if (plugin.observer !== undefined && !isObserver(plugin.observer))
    throw invalid(where, 'observer is an object with the functions start and end, or one of them')
  for (const [path, handler] of Object.entries(plugin.endpoints ?? {}))
    if (!path.startsWith('/') || typeof handler !== 'function')
      throw invalid(where, `endpoints takes functions by path, such as { '/metrics': () => new Response(…) }`)
}

function isObserver({ start, end }: Observer): boolean {
  const parts = [start, end].filter((part) => part !== undefined)
  return parts.length > 0 && parts.every((part) => typeof part === 'function')
}

function invalid(where: string, reason: string): Error {
  return mcpError(BAD_OPTION, { where, reason })
}
