import { badOption } from '../base/options.ts'
import type { Served } from '../extensions/install.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Context } from '../server/context.ts'
import type { Provider } from '../server/providers.ts'
import { checkerOf } from '../server/register.ts'
import type { ServerService } from '../server/service.ts'
import { checkMethod } from './misuse.ts'
import type { Middleware } from './types.ts'

/** Adds middleware for one method, or for all. */
export function addMiddleware(service: ServerService, method: string | undefined, wrap: unknown): void {
  if (typeof wrap !== 'function')
    throw badOption('use', 'the middleware is not a function; write (ctx, next) => next()')
  if (method !== undefined) checkMethod(service, 'use', method)
  service.middleware.push({ method, wrap: wrap as Middleware<Context> })
  service.refold()
}

/** Adds a provider of members of contexts. */
export function addProvider(service: ServerService, provider: unknown): void {
  if (typeof provider !== 'function')
    throw badOption('provide', 'the argument is not a function; write provide(() => ({ db }))')
  service.providers.push(provider as Provider)
  service.refold()
}

/** Adds an extension. */
export function addExtension(service: ServerService, extension: Served, limits: Limits): void {
  if (typeof extension?.install !== 'function')
    throw badOption('extend', 'pass an extension from defineExtension')
  extension.install(service, (item, schema) => checkerOf(item, 'args', schema, limits))
  service.refold()
}
