import { BAD_OPTION } from '../errors/base.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION } from '../errors/server.ts'
import { nearest } from '../base/nearest.ts'
import { METHODS, methodRow } from '../protocol/methods.ts'
import type { RefusalName } from '../protocol/refusals.ts'
import type { ServerService } from '../server/service.ts'

/** The error for a name that is already taken. */
export function duplicate(item: string, refusal: RefusalName): Error {
  const reason = 'it already exists; remove it first to replace it'
  return mcpError(BAD_DEFINITION, { item, reason }, { refusal })
}

/** The error for a wrong option or argument. */
export function badOption(where: string, reason: string): Error {
  return mcpError(BAD_OPTION, { where, reason })
}

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
