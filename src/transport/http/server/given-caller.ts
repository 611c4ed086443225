import { McpError, mcpError } from '../../../errors/error.ts'
import { BAD_CALLER, BODY_READ } from '../../../errors/http.ts'
import { isObject } from '../../../protocol/jsonrpc.ts'
import type { Auth } from '../../../rpc/call.ts'
import type { Service } from '../../../rpc/service.ts'

/** The values with which frameworks say that a caller is anonymous. */
const ANONYMOUS: ReadonlySet<unknown> = new Set([undefined, null, false])

/**
 * The caller that a framework authenticated; undefined for an anonymous one. Throws unless its `sub` tells it apart from
 * other callers: a token changes, and many users share a client id.
 */
export function givenCaller(given: unknown): Auth | undefined {
  if (ANONYMOUS.has(given)) return undefined
  if (!isObject(given)) throw badCaller(`a ${typeof given}`)
  const { sub } = given
  if (typeof sub !== 'string' || sub === '') throw badCaller('an object without a sub')
  return given
}

function badCaller(given: string): McpError {
  return mcpError(BAD_CALLER, { given })
}

/** The errors of a site that its clients cannot correct. */
const OF_SITE: ReadonlySet<string> = new Set([BODY_READ.kind, BAD_CALLER.kind])

const reported = new WeakMap<object, Set<string>>()

/** Tells the operator once about each error that only the site around a mount can correct. */
export function reportSiteError(service: Service, thrown: unknown): void {
  if (!(thrown instanceof McpError) || !OF_SITE.has(thrown.kind)) return
  const known = reported.get(service) ?? new Set()
  if (known.has(thrown.kind)) return
  reported.set(service, known.add(thrown.kind))
  service.report('error', thrown.message)
}
