import { CUSTOM, isCustomCode } from './custom.ts'
import { knowErrors, McpError, type ErrorExtras, type ErrorKind } from './error.ts'
import { HEADER_MISMATCH, NODE_LOST } from './http.ts'
import { KEY_TAKEN, KEY_TAKEN_HINT } from './key-taken.ts'
import { QUEUE_BYTES, QUEUE_FULL, QUEUE_SHARE, SESSION_LIMIT, TOO_MANY_CALLS } from './limits.ts'
import { printable, unbroken } from './printable.ts'
import type { ErrorRow } from './row.ts'
import { OVERLOADED, SHUTTING_DOWN, UNKNOWN_METHOD } from './rpc.ts'
import {
  INSUFFICIENT_SCOPE,
  MISSING_CAPABILITY,
  NOT_INITIALIZED,
  UNKNOWN_PROMPT,
  UNKNOWN_RESOURCE,
  UNKNOWN_TOOL,
  URL_NEEDED,
} from './server.ts'
import {
  TASK_CANCELLED,
  TASK_FINAL,
  TASK_LOST,
  TASK_RESULT_TOO_LARGE,
  TASKS_TOO_LARGE,
  TOO_MANY_CALLER_TASKS,
  TOO_MANY_TASKS,
  UNKNOWN_TASK,
} from './tasks.ts'
import { markReceived } from './where.ts'
import { BAD_PARAMS, PARSE_FAILED, REVISION_UNSUPPORTED, TOO_LARGE } from './wire.ts'
import { isObject, type ErrorObject, type JsonObject } from '../protocol/jsonrpc.ts'
import type { CodeMeaning } from '../protocol/wire-adapter.ts'
import { toWebUrl } from '../protocol/web-url.ts'
import { refusalNamed, refusalRow } from './refusal.ts'
import { isRetryable, type RefusalName } from '../protocol/refusals.ts'

const LONGEST_WAIT_MS = 3_600_000
/** The most URLs of one error. Some hosts take half a millisecond to parse, and nobody opens more. */
const MAX_URLS = 100

/** Converts an error from a server into an McpError of the matching kind, or of kind `remote`. */
export function fromErrorObject({ code, message, data }: ErrorObject, meaning?: CodeMeaning): McpError {
  const facts = isObject(data) ? data : { value: data }
  const sent = isObject(facts['refusal']) ? facts['refusal'] : {}
  const meant = meaning?.(code) ?? {}
  const refusal = nameOf(sent, code) ?? meant.refusal
  const row = lacksScopes(refusal, facts)
    ? INSUFFICIENT_SCOPE
    : (taskLimit(refusal, facts) ??
      // Either alone is shared with other errors.
      BY_REFUSAL.get(
        code === NODE_LOST.code && refusal === NODE_LOST.refusal ? NODE_LOST.kind : (refusal ?? ''),
      ))
  const kind =
    row?.kind ?? (meant.kind as ErrorKind | undefined) ?? BY_CODE.get(code)?.kind ?? otherKind(code)
  return markReceived(
    new McpError(kind, unbroken(printable(message)), {
      code,
      data: data === undefined ? data : kind === URL_NEEDED.kind ? withSafeUrls(facts) : facts,
      hint: kind === BAD_PARAMS.kind && facts[KEY_TAKEN] === true ? KEY_TAKEN_HINT : undefined,
      ...(refusal && refused(refusal, sent)),
    }),
  )
}

/** Leaves out what a user cannot or should not open: an application may open the URLs without a look at them. */
function withSafeUrls(facts: Record<string, unknown>): JsonObject {
  const { elicitations } = facts
  // Nobody else has what was received. A copy would take longer than parsing it.
  if (!Array.isArray(elicitations)) delete facts['elicitations']
  else
    facts['elicitations'] = elicitations.slice(0, MAX_URLS).filter((item) => {
      const url = isObject(item) ? toWebUrl(item['url']) : undefined
      if (url !== undefined) (item as Record<string, unknown>)['url'] = url
      return url !== undefined
    })
  return facts
}

function otherKind(code: number): ErrorKind {
  return isCustomCode(code) ? 'custom' : 'remote'
}

/** Whether the refusal is that of a missing scope, which it shares with other denials. */
function lacksScopes(refusal: RefusalName | undefined, { scopes }: JsonObject): boolean {
  return (
    refusal === 'AUTHZ_FORBIDDEN' &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string')
  )
}

/** The limit of tasks that `data` names, if there is one: others share their refusals. */
function taskLimit(refusal: RefusalName | undefined, facts: JsonObject): ErrorRow | undefined {
  return TASK_LIMITS.find(
    (row) => refusal === (row as ErrorRow).refusal && typeof facts[row.tells[0]] === 'number',
  )
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
    retryAfterMs:
      typeof retryAfterMs === 'number' && retryAfterMs >= 0
        ? Math.min(retryAfterMs, LONGEST_WAIT_MS)
        : undefined,
  }
}

/** Errors by code, where the code alone determines them. */
const BY_CODE: ReadonlyMap<number, ErrorRow> = new Map<number, ErrorRow>([
  [-32700, PARSE_FAILED],
  [-32601, UNKNOWN_METHOD],
  [-32602, BAD_PARAMS],
  [-32002, UNKNOWN_RESOURCE],
  [-32020, HEADER_MISMATCH],
  [-32021, MISSING_CAPABILITY],
  [-32022, REVISION_UNSUPPORTED],
  [-32042, URL_NEEDED],
])

/** Errors by the equivalent refusal. */
const BY_REFUSAL: ReadonlyMap<string, ErrorRow> = new Map<string, ErrorRow>([
  [NODE_LOST.kind, NODE_LOST],
  ['TOOL_NOT_FOUND', UNKNOWN_TOOL],
  ['PROMPT_NOT_FOUND', UNKNOWN_PROMPT],
  ['RESOURCE_NOT_FOUND', UNKNOWN_RESOURCE],
  ['MESSAGE_TOO_LARGE', TOO_LARGE],
  ['SERVER_UNINITIALIZED', NOT_INITIALIZED],
  ['SERVER_SHUTTING_DOWN', SHUTTING_DOWN],
  ['BACKPRESSURE_ACTIVE', OVERLOADED],
  ['CONCURRENT_LIMIT_EXCEEDED', TOO_MANY_CALLS],
  ['BUFFER_OVERFLOW', OVERLOADED],
  ['QUEUE_CAP_EXCEEDED', QUEUE_FULL],
  ['QUEUE_BYTE_CAP_EXCEEDED', QUEUE_BYTES],
  ['QUEUE_TENANT_CAP_EXCEEDED', QUEUE_SHARE],
  ['RESOURCE_EXHAUSTED', SESSION_LIMIT],
  ['TASK_NOT_FOUND', UNKNOWN_TASK],
  ['TASK_DEPENDENCY_FAILED', TASK_LOST],
  ['TASK_CANCELLED', TASK_CANCELLED],
  ['INVALID_TASK_STATE', TASK_FINAL],
])

const TASK_LIMITS = [TOO_MANY_TASKS, TOO_MANY_CALLER_TASKS, TASKS_TOO_LARGE, TASK_RESULT_TOO_LARGE] as const

knowErrors(TASK_LIMITS)
knowErrors([CUSTOM, INSUFFICIENT_SCOPE])
knowErrors(BY_CODE.values())
knowErrors(BY_REFUSAL.values())
