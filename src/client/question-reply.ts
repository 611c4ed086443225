import { clip } from '../base/clip.ts'
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
  const { code, message, data } = isMasked(error) ? maskOf(id) : (error as McpError)
  return encodeError(id, { code, message, data })
}

/** Whether the server must not see an error. */
export function isMasked(error: unknown): boolean {
  return !(error instanceof McpError) || whereOf(error) === 'local'
}

/** Tells the program about an error that the server does not see, and which one it sees instead. */
export function warningOf(method: string, id: RequestId, error: unknown): string {
  return `the answer to ${method} failed: ${clip(String(error), 300)}; the server got "${maskOf(id).message}"`
}

function maskOf(id: RequestId): McpError {
  return mcpError(INTERNAL, { reference: `question ${id}` })
}
