import { badOption } from '../base/options.ts'
import { type McpError, mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { nearest } from '../base/nearest.ts'
import { METHODS, methodRow } from '../protocol/methods.ts'
import type { ServerService } from '../server/service.ts'

/** The warning for a state that was sealed with another secret. */
export const FOREIGN_STATE: string =
  'a client sent a requestState that this process did not issue; if several processes answer a client, give all of ' +
  'them the same name and the same secret, with createServer({ secret }) or PIERHEAD_SECRET'

/** The error for a tool in a map that cannot be called. */
export function hasNoRun(name: string): McpError {
  const reason = `it has no run function; write { ${name}: { run: (input, ctx) => … } }`
  return mcpError(BAD_DEFINITION, { item: `tool "${name}"`, reason })
}

/** Rejects a completer that could never run; `names` are the arguments of its prompt or template. */
export function checkCompletion(
  owner: string,
  names: readonly string[] | undefined,
  argument: string,
  completer: unknown,
): asserts names is readonly string[] {
  const item = `completion of "${owner}"`
  const bad = (reason: string): McpError => mcpError(BAD_DEFINITION, { item, reason })
  if (names === undefined) throw bad('it does not exist; define the prompt or template first')
  if (!names.includes(argument))
    throw bad(`it has no argument "${argument}"; its arguments are ${names.join(', ') || 'none'}`)
  if (typeof completer !== 'function') throw bad('the completer is not a function; write (value) => [ … ]')
}

/** Rejects `app.node` where the listener that it returns belongs: a framework then calls it with a request. */
export function checkListener(isBound: boolean, options: unknown): void {
  if (isBound && !(typeof options === 'object' && options !== null && 'headers' in options)) return
  const reason = 'app.node was used as a listener, but it returns one; write app.node()'
  throw badOption('mount', reason)
}

/** Rejects the objects of frameworks in place of those of Node that they wrap. Later, they would end the process. */
export function checkNodeObjects(request: unknown, response: unknown): void {
  if (typeof (response as { readonly writeHead?: unknown } | undefined)?.writeHead === 'function') return
  throw badOption('mount', `app.node() was called ${nodeRemedy(request)}`)
}

function nodeRemedy(request: unknown): string {
  const given = typeof request === 'object' && request !== null ? request : {}
  if ('raw' in given)
    return 'with the request of Fastify; call reply.hijack(), and then serve(request.raw, reply.raw, request.body)'
  if ('req' in given && 'res' in given)
    return 'with the context of Koa; set ctx.respond = false, and call serve(ctx.req, ctx.res, ctx.request.body)'
  return 'without a response of Node; pass the request and response of node:http, or use app.fetch for a web Request'
}

/** Rejects anything but a web request, as frameworks pass it to a handler that they did not write. */
export function checkRequest(given: unknown): void {
  const { headers, url } = (given ?? {}) as Partial<Request>
  if (typeof url === 'string' && typeof headers?.get === 'function') return
  const reason = `app.fetch was called with ${requestRemedy(given)}`
  throw badOption('mount', reason)
}

function requestRemedy(given: unknown): string {
  if (typeof given !== 'object' || given === null) {
    const what = given === null || given === undefined ? 'nothing' : `a ${typeof given}`
    return `${what}; pass a web Request`
  }
  if ('req' in given) return `the context of Hono; ${HONO}`
  if ('raw' in given) return `the request of Hono; ${HONO}`
  if ('headers' in given) return 'a request of Node; in Express, Fastify and Koa mount app.node()'
  return 'an object; pass a web Request'
}

const HONO = 'write (c) => app.fetch(c.req.raw)'

/** Throws if neither the protocol nor the server has a method, and suggests the one that was probably meant. */
export function checkMethod(
  { methods, interceptors }: Pick<ServerService, 'methods' | 'interceptors'>,
  where: string,
  method: string,
): void {
  if (methodRow(method) !== undefined || methods.has(method) || interceptors.has(method)) return
  const meant = nearest(method, Object.keys(METHODS))
  const remedy = meant === undefined ? '' : `; did you mean "${meant}"?`
  throw badOption(where, `there is no method "${method}"${remedy}`)
}
