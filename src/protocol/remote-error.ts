import { McpError, type ErrorKind } from './errors.ts'
import type { ErrorObject, JsonObject } from './jsonrpc.ts'

/** An error that a server answered with, as one of ours: of the kind that says the same, or `remote`. */
export function fromErrorObject({ code, message, data }: ErrorObject): McpError {
  const facts =
    typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as JsonObject) : { value: data }
  const refusal = facts['refusal'] as { readonly name?: unknown; readonly retryAfterMs?: unknown } | undefined
  const kind = kindOf(code, typeof refusal?.name === 'string' ? refusal.name : undefined)
  const retryAfterMs = typeof refusal?.retryAfterMs === 'number' ? { retryAfterMs: refusal.retryAfterMs } : {}
  return new McpError(kind, message, {
    code,
    ...(data === undefined ? {} : { data: facts }),
    ...retryAfterMs,
  })
}

/** Kinds by the code that only they have. */
const BY_CODE: ReadonlyMap<number, ErrorKind> = new Map<number, ErrorKind>([
  [-32700, 'parse_failed'],
  [-32601, 'unknown_method'],
  [-32002, 'unknown_resource'],
  [-32020, 'header_mismatch'],
  [-32021, 'missing_capability'],
  [-32022, 'revision_unsupported'],
  [-32042, 'url_needed'],
])

/** Kinds by the refusal that says the same. */
const BY_REFUSAL: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['TOOL_NOT_FOUND', 'unknown_tool'],
  ['PROMPT_NOT_FOUND', 'unknown_prompt'],
  ['RESOURCE_NOT_FOUND', 'unknown_resource'],
  ['MESSAGE_TOO_LARGE', 'too_large'],
  ['SERVER_UNINITIALIZED', 'not_initialized'],
  ['SERVER_SHUTTING_DOWN', 'shutting_down'],
  ['BACKPRESSURE_ACTIVE', 'overloaded'],
  ['CONCURRENT_LIMIT_EXCEEDED', 'overloaded'],
  ['BUFFER_OVERFLOW', 'overloaded'],
  ['RESOURCE_EXHAUSTED', 'session_limit'],
])

function kindOf(code: number, refusal: string | undefined): ErrorKind {
  return BY_REFUSAL.get(refusal ?? '') ?? BY_CODE.get(code) ?? (code === -32602 ? 'bad_params' : 'remote')
}
