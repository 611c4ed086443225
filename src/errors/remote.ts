import { allErrors } from './all.ts'
import { McpError, type ErrorExtras, type ErrorKind } from './error.ts'
import type { ErrorObject, JsonObject } from '../protocol/jsonrpc.ts'
import type { CodeMeaning } from '../protocol/wire-adapter.ts'
import { refusalNamed, refusalRow } from './refusal.ts'
import { isRetryable, type RefusalName } from '../protocol/refusals.ts'

const LONGEST_WAIT_MS = 3_600_000

allErrors()

/** Converts an error from a server into an McpError of the matching kind, or of kind `remote`. */
export function fromErrorObject({ code, message, data }: ErrorObject, meaning?: CodeMeaning): McpError {
  const facts = isObject(data) ? data : { value: data }
  const sent = isObject(facts['refusal']) ? facts['refusal'] : {}
  const meant = meaning?.(code) ?? {}
  const refusal = nameOf(sent, code) ?? meant.refusal
  const kind =
    BY_REFUSAL.get(refusal ?? '') ?? (meant.kind as ErrorKind | undefined) ?? BY_CODE.get(code) ?? 'remote'
  return new McpError(kind, message, {
    code,
    ...(data === undefined ? {} : { data: facts }),
    ...(refusal === undefined ? {} : refused(refusal, sent)),
  })
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Finds the refusal by the name in `data`, by the number there, or by the error code. */
function nameOf(sent: JsonObject, code: number): RefusalName | undefined {
  const { name, code: number } = sent
  if (refusalRow(name) !== undefined) return name as RefusalName
  return refusalNamed(typeof number === 'number' ? number : code)
}

function refused(refusal: RefusalName, { retryable, retryAfterMs }: JsonObject): ErrorExtras {
  const row = refusalRow(refusal)
  const known = row !== undefined && isRetryable(row)
  return {
    refusal,
    retryable: typeof retryable === 'boolean' ? retryable : known,
    ...(typeof retryAfterMs === 'number' &&
      retryAfterMs >= 0 && { retryAfterMs: Math.min(retryAfterMs, LONGEST_WAIT_MS) }),
  }
}

/** Kinds by error code, where the code alone determines them. */
const BY_CODE: ReadonlyMap<number, ErrorKind> = new Map<number, ErrorKind>([
  [-32700, 'parse_failed'],
  [-32601, 'unknown_method'],
  [-32602, 'bad_params'],
  [-32002, 'unknown_resource'],
  [-32020, 'header_mismatch'],
  [-32021, 'missing_capability'],
  [-32022, 'revision_unsupported'],
  [-32042, 'url_needed'],
])

/** Kinds by the equivalent refusal. */
const BY_REFUSAL: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['TOOL_NOT_FOUND', 'unknown_tool'],
  ['PROMPT_NOT_FOUND', 'unknown_prompt'],
  ['RESOURCE_NOT_FOUND', 'unknown_resource'],
  ['MESSAGE_TOO_LARGE', 'too_large'],
  ['SERVER_UNINITIALIZED', 'not_initialized'],
  ['SERVER_SHUTTING_DOWN', 'shutting_down'],
  ['BACKPRESSURE_ACTIVE', 'overloaded'],
  ['CONCURRENT_LIMIT_EXCEEDED', 'too_many_calls'],
  ['BUFFER_OVERFLOW', 'overloaded'],
  ['QUEUE_CAP_EXCEEDED', 'queue_full'],
  ['QUEUE_BYTE_CAP_EXCEEDED', 'queue_bytes'],
  ['QUEUE_TENANT_CAP_EXCEEDED', 'queue_share'],
  ['RESOURCE_EXHAUSTED', 'session_limit'],
])
