import { badOption } from '../base/options.ts'
import { mcpError, type McpError } from '../errors/error.ts'
import { URI_TOO_LONG } from '../errors/server.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'

/** The error for credentials of a request on a transport that sends none with requests. */
export function noAuth(method: string): McpError {
  return badOption(`${method} auth`, 'it applies only to HTTP; give auth to connect instead')
}

/** The error for a URI that no longer fits into a header. */
export function uriTooLong(limit: number): McpError {
  return mcpError(URI_TOO_LONG, { limit })
}

/** The error for params that JSON cannot hold, which names the value; any other error unchanged. */
export function toUnsendable(error: unknown, method: string, params: JsonObject): unknown {
  const problem = problemIn(params, '', [])
  return problem === undefined ? error : badOption(method, problem)
}

/** Rejects middleware that does not pass on the result of a request. */
export function noResult(method: string): never {
  const reason = `middleware returned nothing for ${method}; write return next()`
  throw badOption('use', reason)
}

function problemIn(given: unknown, path: string, outer: readonly unknown[]): string | undefined {
  const value = hasToJson(given) ? given.toJSON() : given
  if (typeof value === 'bigint')
    return `${path} is a bigint, which JSON does not have; send a number or a string`
  if (typeof value !== 'object' || value === null) return undefined
  if (outer.includes(value)) return `${path} contains itself`
  const inner = [...outer, value]
  for (const [name, member] of Object.entries(value)) {
    const problem = problemIn(member, `${path}${stepOf(name, path, Array.isArray(value))}`, inner)
    if (problem !== undefined) return problem
  }
  return undefined
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function'
  )
}

function stepOf(name: string, path: string, isList: boolean): string {
  if (isList) return `[${name}]`
  if (!/^[\p{L}_$][\p{L}\d_$]*$/u.test(name)) return `[${JSON.stringify(name)}]`
  return path === '' ? name : `.${name}`
}
