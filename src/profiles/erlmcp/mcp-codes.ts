import { allErrors } from '../../errors/all.ts'
import type { ErrorKind } from '../../errors/error.ts'
import type { RefusalName, Severity } from '../../protocol/refusals.ts'

/** One of the negative codes of profile `erlmcp`. */
export interface McpCode {
  readonly code: number
  readonly name: string
  readonly severity: Severity
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable?: true
  /** Our errors that are sent with this code. */
  readonly kinds: readonly ErrorKind[]
  /** The error that it is read as, if that error is sent with another code. */
  readonly alias?: ErrorKind
  /** The equivalent refusal. */
  readonly refusal?: RefusalName
}

/**
 * The 38 codes of profile `erlmcp`. Two names have two codes each: the second is sent, or the first with
 * `errorNumbers: 'erlmcp-core'`, and both are understood. Other rows without kinds are codes that Pierhead never sends.
 */
// oxfmt-ignore
export const MCP_CODES: readonly McpCode[] = [
  // Core
  { code: -32001, name: 'RESOURCE_NOT_FOUND',            severity: 'error', kinds: ['unknown_resource'], refusal: 'RESOURCE_NOT_FOUND' },
  { code: -32002, name: 'TOOL_NOT_FOUND',                severity: 'error', kinds: [], alias: 'unknown_tool', refusal: 'TOOL_NOT_FOUND' },
  { code: -32003, name: 'PROMPT_NOT_FOUND',              severity: 'error', kinds: [], alias: 'unknown_prompt', refusal: 'PROMPT_NOT_FOUND' },
  { code: -32004, name: 'CAPABILITY_NOT_SUPPORTED',      severity: 'error', kinds: ['not_offered', 'missing_capability'] },
  { code: -32005, name: 'NOT_INITIALIZED',               severity: 'error', retryable: true, kinds: ['not_initialized', 'already_initialized'], refusal: 'SERVER_UNINITIALIZED' },
  { code: -32006, name: 'SUBSCRIPTION_FAILED',           severity: 'error', retryable: true, kinds: ['too_many_subscriptions', 'too_many_streams', 'too_much_held'], refusal: 'CONCURRENT_LIMIT_EXCEEDED' },
  { code: -32007, name: 'VALIDATION_FAILED',             severity: 'error', kinds: ['name_too_long', 'bad_envelope', 'bad_state', 'state_too_large'], alias: 'bad_params', refusal: 'INVALID_PARAMS' },
  { code: -32008, name: 'TRANSPORT_ERROR',               severity: 'error', retryable: true, kinds: ['connect_failed', 'connection_closed', 'stream_lost', 'bad_http'], refusal: 'TRANSPORT_ERROR' },
  { code: -32009, name: 'TIMEOUT',                       severity: 'error', retryable: true, kinds: ['timeout', 'slow_sender'], refusal: 'TIMEOUT' },
  { code: -32010, name: 'RATE_LIMITED',                  severity: 'warn',  retryable: true, kinds: ['too_many_calls'], refusal: 'RATE_LIMIT_EXCEEDED' },

  // Content
  { code: -32011, name: 'TOOL_DESCRIPTION_TOO_LONG',     severity: 'error', kinds: ['description_too_long'] },
  { code: -32012, name: 'MESSAGE_TOO_LARGE',             severity: 'error', kinds: ['too_large', 'answer_too_large'], refusal: 'MESSAGE_TOO_LARGE' },
  { code: -32013, name: 'INVALID_CONTENT_TYPE',          severity: 'error', kinds: ['bad_type', 'unsupported_type'], refusal: 'INVALID_CONTENT_TYPE' },

  // Resources
  { code: -32021, name: 'RESOURCE_PERMISSION_DENIED',    severity: 'error', kinds: ['resource_denied', 'insufficient_scope'], refusal: 'AUTHZ_FORBIDDEN' },
  { code: -32022, name: 'RESOURCE_INVALID_URI',          severity: 'error', kinds: ['uri_too_long', 'uri_too_costly'], refusal: 'INVALID_URI' },
  { code: -32023, name: 'RESOURCE_ALREADY_EXISTS',       severity: 'error', kinds: ['resource_exists'], refusal: 'RESOURCE_DUPLICATE' },

  // Tools
  { code: -32031, name: 'TOOL_NOT_FOUND',                severity: 'error', kinds: ['unknown_tool'], refusal: 'TOOL_NOT_FOUND' },
  { code: -32032, name: 'TOOL_EXECUTION_FAILED',         severity: 'error', kinds: ['tool_failed', 'tool_output'], refusal: 'INTERNAL_ERROR' },
  { code: -32033, name: 'INVALID_TOOL_ARGUMENT',         severity: 'error', kinds: ['tool_arguments', 'tool_input'], refusal: 'INVALID_PARAMS' },
  { code: -32034, name: 'TOOL_TIMEOUT',                  severity: 'error', retryable: true, kinds: ['tool_timeout'], refusal: 'TIMEOUT' },

  // Prompts
  { code: -32041, name: 'PROMPT_NOT_FOUND',              severity: 'error', kinds: ['unknown_prompt'], refusal: 'PROMPT_NOT_FOUND' },
  { code: -32042, name: 'INVALID_PROMPT_ARGUMENT',       severity: 'error', kinds: ['prompt_arguments'], refusal: 'INVALID_PARAMS' },

  // Authentication
  { code: -32051, name: 'UNAUTHORIZED',                  severity: 'error', kinds: ['auth_missing', 'auth_proof'], refusal: 'AUTH_FAILED' },
  { code: -32052, name: 'AUTH_EXPIRED',                  severity: 'error', kinds: ['auth_expired'], refusal: 'AUTH_EXPIRED' },
  { code: -32053, name: 'AUTH_INVALID_CREDENTIALS',      severity: 'error', kinds: ['auth_rejected'], refusal: 'AUTH_INVALID_CREDENTIALS' },

  // Protocol
  { code: -32061, name: 'PROTOCOL_ERROR',                severity: 'error', kinds: ['duplicate_key', 'too_deep', 'too_many_values', 'too_many_keys', 'too_many_containers', 'string_too_long', 'id_in_use', 'id_too_long', 'batch_too_long', 'batch_answers'], alias: 'bad_message', refusal: 'PROTOCOL_ERROR' },
  { code: -32062, name: 'PROTOCOL_VERSION_MISMATCH',     severity: 'error', kinds: ['revision_unsupported', 'version_rejected', 'version_header', 'no_revision'], refusal: 'INVALID_PROTOCOL_VERSION' },
  { code: -32063, name: 'CAPABILITY_NEGOTIATION_FAILED', severity: 'error', kinds: ['bad_capabilities'], refusal: 'INVALID_PARAMS' },

  // Pagination
  { code: -32071, name: 'INVALID_CURSOR',                severity: 'error', kinds: ['bad_cursor', 'cursor_too_long'], refusal: 'INVALID_PARAMS' },
  { code: -32072, name: 'CURSOR_EXPIRED',                severity: 'warn',  kinds: ['cursor_expired'], refusal: 'INVALID_PARAMS' },

  // Tasks
  { code: -32081, name: 'TASK_NOT_FOUND',                severity: 'error', kinds: ['unknown_task'], refusal: 'TASK_NOT_FOUND' },
  { code: -32082, name: 'TASK_EXECUTION_FAILED',         severity: 'error', kinds: ['task_crashed', 'task_lost', 'task_damaged', 'task_result_too_large'], refusal: 'TASK_DEPENDENCY_FAILED' },
  { code: -32083, name: 'INVALID_TASK_STATE',            severity: 'error', kinds: ['task_final'], refusal: 'INVALID_TASK_STATE' },
  { code: -32084, name: 'TASK_TIMEOUT',                  severity: 'error', kinds: ['task_timeout'], refusal: 'TASK_TIMEOUT' },

  // Progress
  { code: -32091, name: 'PROGRESS_TOKEN_INVALID',        severity: 'warn',  kinds: ['bad_progress_token'], refusal: 'INVALID_PARAMS' },
  { code: -32092, name: 'PROGRESS_UPDATE_FAILED',        severity: 'warn',  kinds: ['progress_failed'], refusal: 'INTERNAL_ERROR' },

  // Completion
  { code: -32110, name: 'COMPLETION_NOT_FOUND',          severity: 'error', kinds: ['unknown_completion'], refusal: 'INVALID_PARAMS' },
  { code: -32111, name: 'COMPLETION_INVALID_CONTEXT',    severity: 'error', kinds: ['completion_context'], refusal: 'INVALID_PARAMS' },
]

// A client of this profile names errors that other clients do not know.
allErrors()

const byKind: ReadonlyMap<string, number> = new Map(
  MCP_CODES.flatMap(({ code, kinds }) => kinds.map((kind) => [kind, code] as const)),
)
const earlier: ReadonlyMap<string, number> = new Map(
  MCP_CODES.flatMap(({ code, kinds, alias }) =>
    alias === undefined || kinds.length > 0 ? [] : [[alias, code] as const],
  ),
)
const byCode: ReadonlyMap<number, McpCode> = new Map(MCP_CODES.map((row) => [row.code, row]))

/** The code that profile `erlmcp` sends for an error; undefined means the official one. */
export function erlmcpCodeOf(kind: string): number | undefined {
  return byKind.get(kind)
}

/** The first of two codes of profile `erlmcp` for an error; undefined if it has only one. */
export function earlierCodeOf(kind: string): number | undefined {
  return earlier.get(kind)
}

/** The meaning of a code in profile `erlmcp`. */
export function erlmcpMeaning(code: number): { readonly kind?: ErrorKind; readonly refusal?: RefusalName } {
  const row = byCode.get(code)
  const kind = row?.alias ?? row?.kinds[0]
  return {
    ...(kind !== undefined && { kind }),
    ...(row?.refusal !== undefined && { refusal: row.refusal }),
  }
}
