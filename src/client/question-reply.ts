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

/** The reply to a question that could not be answered. An error of another client may contain secrets of its connection. */
export function encodeFailure(id: RequestId, error: unknown): string {
  const { code, message, data } =
    error instanceof McpError && whereOf(error) !== 'local'
      ? error
      : mcpError(INTERNAL, { reference: `question ${id}` })
  return encodeError(id, { code, message, data })
}
