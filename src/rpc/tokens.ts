import { mcpError } from '../errors/error.ts'
import { BAD_PARAMS } from '../errors/wire.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { META, STREAMED_CALL } from '../protocol/meta.ts'
import type { Call } from './call.ts'

/** Every notification of these repeats their id; a streamed call repeats its progress token instead, if it has one. */
const REPEATS_ID: ReadonlySet<string> = new Set(['subscriptions/listen', STREAMED_CALL])

/** Rejects a request with a long text that every notification would repeat: a few bytes from a client would cause very many to it. */
export function checkTokens({ id, method, params }: Call, limit: number): void {
  const token = (params['_meta'] as JsonObject | undefined)?.[META.progressToken]
  if (isLong(token, limit))
    throw mcpError(BAD_PARAMS, { method, reason: `the progress token is longer than ${limit} characters` })
  if (!REPEATS_ID.has(method) || !isLong(id, limit)) return
  if (method !== STREAMED_CALL || token === undefined)
    throw mcpError(BAD_PARAMS, {
      method,
      reason: `the id of this request is longer than ${limit} characters, and every notification repeats it`,
    })
}

function isLong(text: unknown, limit: number): boolean {
  return typeof text === 'string' && text.length > limit
}
