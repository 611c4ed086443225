import { mcpError } from '../../protocol/errors.ts'
import { httpError } from '../../protocol/http-errors.ts'
import { idText, type RequestId } from '../../protocol/jsonrpc.ts'
import type { Limits } from '../../protocol/limits.ts'
import { serverError } from '../../protocol/server-errors.ts'
import { ownerOf } from '../../rpc/call.ts'
import type { Load } from '../../rpc/load.ts'
import type { HttpIn } from './parts.ts'
import { unsentBytes } from './sending.ts'
import type { HttpSession } from './sessions.ts'

const SOON = { retryAfterMs: 1000 }

/** Throws when one more request would be one too many, for the server or for its caller. */
export function admit(
  id: RequestId,
  request: HttpIn,
  session: HttpSession | undefined,
  { load, limits }: { readonly load: Load; readonly limits: Limits },
): void {
  if (load.running >= limits.allInFlight || request.isLate === true) throw mcpError('overloaded', {}, SOON)
  checkUnsent(limits)
  // As long as all callers together have no more, none of them has.
  if (load.running >= limits.inFlight && load.runningFor(callerOf(request, session)) >= limits.inFlight)
    throw serverError('too_many_calls', { limit: limits.inFlight }, SOON)
  if (session?.hasCalls === true && session.calls.has(idText(id)))
    throw serverError('id_in_use', { id: idText(id).slice(0, 128) })
}

/** Throws when so much waits for clients that nothing more should be written. */
export function checkUnsent(limits: Limits): void {
  if (unsentBytes() > limits.unsentBytes) throw httpError('too_much_unsent', {}, SOON)
}

/** Whose request it is: an authenticated caller's, or that of a session or a connection. */
export function callerOf({ auth, connection }: HttpIn, session: HttpSession | undefined): unknown {
  return auth === undefined ? (session ?? connection) : ownerOf(auth)
}
