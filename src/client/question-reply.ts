import { McpError, mcpError } from '../errors/error.ts'
import { ID_TOO_LONG } from '../errors/limits.ts'
import { whereOf } from '../errors/where.ts'
import { INTERNAL } from '../errors/wire.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import { encodeError, encodeReply, replyText } from '../wire/reply.ts'

/** The reply to a question. */
export function encodeAnswer(id: RequestId, result: JsonObject): string {
  return replyText(encodeReply(id, JSON.stringify(result)))
}

/** The reply to a question whose id is too long to be repeated. */
export function refuseId(limit: number): string {
  const { code, message } = mcpError(ID_TOO_LONG, { limit })
  return encodeError(undefined, { code, message })
}

/**
 * The reply to a question that could not be answered. An error of the program, or of another client, may contain secrets, so the server does not
 * see it; `warn` gets it.
 */
export function encodeFailure(id: RequestId, error: unknown, warn?: (text: string) => void): string {
  const isPublic = error instanceof McpError && whereOf(error) !== 'local'
  const { code, message, data } = isPublic ? error : mcpError(INTERNAL, { reference: `question ${id}` })
  if (!isPublic) warn?.(`a question was not answered: ${String(error)}; the server got "${message}"`)
  return encodeError(id, { code, message, data })
}
