import type { RESERVED_REFUSALS } from './reserved-refusals.ts'

/** How serious a refusal is for the operator of the server: `warn` is expected now and then, `critical` needs attention. */
export type Severity = 'warn' | 'error' | 'critical'
/**
 * How a client should react to a refusal: `fix` the request, `back off` and try again later, `authenticate` again, `initialize` a new
 * session, `reconnect`, or `give up` because the caller may not do this. Our client does all but `fix` and `give up` by itself.
 */
export type Reaction = 'fix' | 'back off' | 'authenticate' | 'initialize' | 'reconnect' | 'give up'

export interface RefusalRow {
  readonly code: number
  readonly http: number
  readonly severity: Severity
  /** How a client should react. */
  readonly reaction: Reaction
  /** Whether the request may have run anyway, so that only idempotent requests may be repeated. */
  readonly ran?: true
}

/**
 * The refusals that our server sends in `error.data.refusal`, next to the official code: expected outcomes that clients
 * can plan for.
 */
// oxfmt-ignore
export const REFUSALS = {
  QUEUE_CAP_EXCEEDED:              { code: 1001, http: 429, severity: 'error',    reaction: 'back off' },
  QUEUE_BYTE_CAP_EXCEEDED:         { code: 1002, http: 429, severity: 'error',    reaction: 'back off' },
  QUEUE_TENANT_CAP_EXCEEDED:       { code: 1003, http: 429, severity: 'critical', reaction: 'back off' },
  BUFFER_OVERFLOW:                 { code: 1004, http: 503, severity: 'critical', reaction: 'back off' },
  BACKPRESSURE_ACTIVE:             { code: 1005, http: 503, severity: 'warn',     reaction: 'back off' },
  AUTH_FAILED:                     { code: 1011, http: 401, severity: 'error',    reaction: 'authenticate' },
  AUTH_EXPIRED:                    { code: 1012, http: 401, severity: 'error',    reaction: 'authenticate' },
  AUTH_INVALID_CREDENTIALS:        { code: 1013, http: 401, severity: 'error',    reaction: 'authenticate' },
  AUTHZ_FORBIDDEN:                 { code: 1014, http: 403, severity: 'error',    reaction: 'give up' },
  AUTH_MISSING:                    { code: 1015, http: 401, severity: 'error',    reaction: 'authenticate' },
  SESSION_INVALID:                 { code: 1016, http: 401, severity: 'error',    reaction: 'initialize' },
  INVALID_PARAMS:                  { code: 1021, http: 400, severity: 'error',    reaction: 'fix' },
  INVALID_URI:                     { code: 1023, http: 400, severity: 'error',    reaction: 'fix' },
  INVALID_CONTENT_TYPE:            { code: 1024, http: 415, severity: 'error',    reaction: 'fix' },
  INVALID_HEADER:                  { code: 1025, http: 400, severity: 'error',    reaction: 'fix' },
  INVALID_SESSION_ID:              { code: 1026, http: 400, severity: 'error',    reaction: 'initialize' },
  INVALID_PROTOCOL_VERSION:        { code: 1027, http: 400, severity: 'error',    reaction: 'fix' },
  MISSING_REQUIRED_FIELD:          { code: 1028, http: 400, severity: 'error',    reaction: 'fix' },
  FIELD_TYPE_MISMATCH:             { code: 1029, http: 400, severity: 'error',    reaction: 'fix' },
  RESOURCE_NOT_FOUND:              { code: 1046, http: 404, severity: 'warn',     reaction: 'fix' },
  RESOURCE_DUPLICATE:              { code: 1047, http: 409, severity: 'warn',     reaction: 'fix' },
  TOOL_NOT_FOUND:                  { code: 1048, http: 404, severity: 'warn',     reaction: 'fix' },
  PROMPT_NOT_FOUND:                { code: 1050, http: 404, severity: 'warn',     reaction: 'fix' },
  CONCURRENT_LIMIT_EXCEEDED:       { code: 1060, http: 429, severity: 'error',    reaction: 'back off' },
  PROTOCOL_ERROR:                  { code: 1066, http: 400, severity: 'error',    reaction: 'fix' },
  TRANSPORT_ERROR:                 { code: 1067, http: 503, severity: 'error',    reaction: 'reconnect', ran: true },
  MESSAGE_TOO_LARGE:               { code: 1068, http: 413, severity: 'error',    reaction: 'fix' },
  TIMEOUT:                         { code: 1069, http: 503, severity: 'warn',     reaction: 'back off', ran: true },
  UNSUPPORTED_ENCODING:            { code: 1070, http: 415, severity: 'error',    reaction: 'fix' },
  SERVER_UNINITIALIZED:            { code: 1076, http: 503, severity: 'error',    reaction: 'reconnect' },
  SERVER_SHUTTING_DOWN:            { code: 1077, http: 503, severity: 'warn',     reaction: 'reconnect' },
  SERVICE_UNAVAILABLE:             { code: 1078, http: 503, severity: 'warn',     reaction: 'back off' },
  INTERNAL_ERROR:                  { code: 1079, http: 503, severity: 'critical', reaction: 'back off', ran: true },
  DEPENDENCY_UNAVAILABLE:          { code: 1080, http: 503, severity: 'warn',     reaction: 'back off', ran: true },
  RESOURCE_EXHAUSTED:              { code: 1089, http: 503, severity: 'critical', reaction: 'back off' },
  TASK_NOT_FOUND:                  { code: 1095, http: 404, severity: 'warn',     reaction: 'fix' },
  TASK_DEPENDENCY_FAILED:          { code: 1096, http: 500, severity: 'warn',     reaction: 'fix' },
  TASK_CANCELLED:                  { code: 1097, http: 409, severity: 'warn',     reaction: 'fix' },
  TASK_TIMEOUT:                    { code: 1098, http: 408, severity: 'warn',     reaction: 'fix' },
  INVALID_TASK_STATE:              { code: 1099, http: 409, severity: 'warn',     reaction: 'fix' },
} as const
REFUSALS satisfies Record<string, RefusalRow>

/** The refusals that our server sends. */
export type SentRefusalName = keyof typeof REFUSALS
/** Every refusal of the catalogue. */
export type RefusalName = keyof typeof REFUSALS | keyof typeof RESERVED_REFUSALS

/** Whether the same request may succeed later, unchanged. */
export function isRetryable(row: RefusalRow): boolean {
  return row.reaction === 'back off' || row.reaction === 'reconnect'
}
