import { abandonable } from '../base/abandonable.ts'
import { METHOD_TOO_LONG } from '../errors/limits.ts'
import { mcpError } from '../errors/error.ts'
import { NOT_OFFERED, UNKNOWN_METHOD } from '../errors/rpc.ts'
import { isObject, type JsonObject } from '../protocol/jsonrpc.ts'
import { isMethodAt, methodRow } from '../protocol/methods.ts'
import { REVISIONS, type Revision } from '../protocol/revisions.ts'
import type { Call } from './call.ts'

/** The result of a request, in the neutral form of the newest revision. */
export type Result = JsonObject

/** Answers one request. Errors for the peer are thrown. */
export type Handler<Context> = (context: Context) => Result | Promise<Result>

/** Wraps a handler. `next` may be called once. */
export type Middleware<Context> = (context: Context, next: () => Promise<Result>) => Result | Promise<Result>

export interface MiddlewareEntry<Context> {
  /** The method it wraps; undefined wraps them all. */
  readonly method: string | undefined
  readonly wrap: Middleware<Context>
}

export interface DispatchParts<Context> {
  readonly routes: ReadonlyMap<string, Handler<Context>>
  readonly middleware: readonly MiddlewareEntry<Context>[]
  /** The longest accepted method name, in characters. */
  readonly methodLength: number
  /** Writes a warning to the operator's log, once for each item. */
  warnOnce(cause: string, item: string, message: string): void
  /** Whether the server offers a capability such as `tools` or `resources.subscribe`. */
  offers(capability: string): boolean
  /** Creates the context of a call; returns a promise when a provider is asynchronous. */
  context(call: Call): Context | Promise<Context>
}

/** Folds routes and middleware into one function, once and not per request. */
export function createDispatch<Context>(
  parts: DispatchParts<Context>,
): (call: Call) => Result | Promise<Result> {
  const tables = new Map(REVISIONS.map((revision) => [revision, foldFor(revision, parts)]))

  return function dispatch(call) {
    const handler = tables.get(call.peer.dialect.revision)?.get(call.method)
    if (handler === undefined) throw noHandler(call, parts.methodLength)
    const context = parts.context(call)
    return context instanceof Promise ? context.then(handler) : handler(context)
  }
}

function foldFor<Context>(revision: Revision, parts: DispatchParts<Context>): Map<string, Handler<Context>> {
  const table = new Map<string, Handler<Context>>()
  for (const [method, handler] of parts.routes) {
    const row = methodRow(method)
    if (row !== undefined && !isMethodAt(row, revision)) continue
    if (row?.capability !== undefined && !parts.offers(row.capability)) continue
    table.set(method, wrapped(method, handler, parts))
  }
  return table
}

function wrapped<Context>(
  method: string,
  handler: Handler<Context>,
  { middleware, warnOnce }: Pick<DispatchParts<Context>, 'middleware' | 'warnOnce'>,
): Handler<Context> {
  const wraps = middleware.filter((entry) => entry.method === undefined || entry.method === method)
  return wraps.reduceRight<Handler<Context>>(
    (inner, { wrap }) =>
      (context) => {
        let passed: Promise<Result> | undefined
        const answer = wrap(context, () => {
          if (passed !== undefined) return abandonable(Promise.reject(calledTwice(method)))
          // Middleware may have answered without it.
          return (passed = abandonable((async () => inner(context))()))
        })
        const checked = (result: unknown): Result | Promise<Result> => {
          if (isObject(result)) return result
          if (passed === undefined || result !== undefined) throw notAResult(method, result)
          warnOnce(
            'middleware',
            method,
            `${returnedNothing(method)}, so the result of next() was used; ${REMEDY}`,
          )
          return passed
        }
        return answer instanceof Promise ? answer.then(checked) : checked(answer)
      },
    handler,
  )
}

const REMEDY = 'write return next()'

function returnedNothing(method: string): string {
  return `middleware returned nothing for ${method}`
}

function notAResult(method: string, result: unknown): TypeError {
  if (result === undefined)
    return new TypeError(`${returnedNothing(method)} and did not call next(); ${REMEDY}, or return a result`)
  const what = Array.isArray(result) ? 'a list' : result === null ? 'null' : `a ${typeof result}`
  return new TypeError(`middleware returned ${what} for ${method}; return the result of next(), or an object`)
}

function calledTwice(method: string): Error {
  return new Error(`middleware called next() twice for ${method}; call it once and keep its result`)
}

function noHandler(call: Call, methodLength: number): Error {
  if (call.method.length > methodLength) return mcpError(METHOD_TOO_LONG, { limit: methodLength })
  const { revision } = call.peer.dialect
  const row = methodRow(call.method)
  const known =
    row !== undefined && row.from !== 'server' && row.kind === 'request' && isMethodAt(row, revision)
  return known && row.capability !== undefined
    ? mcpError(NOT_OFFERED, { method: call.method, capability: row.capability })
    : mcpError(UNKNOWN_METHOD, { method: call.method.slice(0, 256), revision })
}
