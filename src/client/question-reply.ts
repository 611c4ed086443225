import { McpError, mcpError } from '../errors/error.ts'
import { INTERNAL } from '../errors/wire.ts'
import type { JsonObject, RequestId } from '../protocol/jsonrpc.ts'
import { encodeError, encodeReply, replyText } from '../wire/reply.ts'

/** The reply to a question. */
export function encodeAnswer(id: RequestId, result: JsonObject): string {
  return replyText(encodeReply(id, JSON.stringify(result)))
}

/** The reply to a question that could not be answered. */
export function encodeFailure(id: RequestId, error: unknown): string {
  const { code, message, data } =
    error instanceof McpError ? error : mcpError(INTERNAL, { reference: `question ${id}` })
  return encodeError(id, { code, message, data })
}
