import { mcpError } from '../../../errors/error.ts'
import { ID_IN_USE, OVERLOADED, TOO_MANY_CALLS } from '../../../errors/rpc.ts'
import { idText, type JsonObject, type RequestId } from '../../../protocol/jsonrpc.ts'
import type { Limits } from '../../../protocol/limits.ts'
import { ownerOf, type Call } from '../../../rpc/call.ts'
import type { Load } from '../../../rpc/load.ts'
import type { Service } from '../../../rpc/service.ts'
import type { HttpIn } from './parts.ts'
import { checkUnsent } from '../../io/write-budget.ts'
import type { HttpSession } from './sessions.ts'

const SOON = { retryAfterMs: 1000 }

/** Throws when one more request would be one too many; tells whether it must wait until others are answered. */
export function admit(
  id: RequestId,
  request: HttpIn,
  session: HttpSession | undefined,
  { load, limits }: { readonly load: Load; readonly limits: Limits },
): boolean {
  if (request.isLate === true) throw mcpError(OVERLOADED, {}, SOON)
  checkUnsent(limits)
  // As long as all callers together have no more, none of them has.
  if (load.running >= limits.inFlight && load.runningFor(callerOf(request, session)) >= limits.inFlight)
    throw mcpError(TOO_MANY_CALLS, { limit: limits.inFlight }, SOON)
  if (session?.hasCalls === true && session.calls.has(idText(id)))
    throw mcpError(ID_IN_USE, { id: idText(id).slice(0, 128) })
  return load.running >= limits.allInFlight
}

/** Answers a request when others are answered. */
export function inTurn(
  call: Call,
  request: HttpIn,
  session: HttpSession | undefined,
  { service, limits }: { readonly service: Service; readonly limits: Limits },
): Promise<JsonObject> {
  const caller = callerOf(request, session)
  const bytes = request.body.length || Number(request.header('content-length')) || 0
  const answer = (): JsonObject | Promise<JsonObject> => service.answer(call)
  return service.load.inTurn({ call, caller, bytes, answer }, limits)
}

/** Whose request it is: an authenticated caller's, or that of a session or a connection. */
export function callerOf({ auth, connection }: HttpIn, session: HttpSession | undefined): unknown {
  return auth === undefined ? (session ?? connection) : ownerOf(auth)
}
