import { REFUSALS, type RefusalName } from './refusals.ts'
import type { ErrorObject } from './jsonrpc.ts'
import { printable } from './printable.ts'
import type { Revision } from './revisions.ts'

export interface ErrorRow {
  /** `wire`: an error for the peer. `result`: a tool result that the model reads. `local`: never sent. */
  readonly where: 'wire' | 'result' | 'local'
  readonly code: number
  /** Another code up to and including 2025-11-25. */
  readonly codeBefore2026?: number
  /** The HTTP status when the message is refused; 200 means that the error travels as an ordinary reply. */
  readonly http: number
  /** Another status at 2026-07-28. */
  readonly httpFrom2026?: number
  readonly refusal?: RefusalName
  /** Whether the same request may succeed later without being changed; for a refusal, what its reaction says. */
  readonly retryable?: true
  /** The message, with named slots for the facts that the thrower gives. */
  readonly text: string
  /** What to do about it. */
  readonly hint: string
}

/** Every error, one row each. */
// oxfmt-ignore
export const ERRORS = {
  // Reading a message
  parse_failed:        { where: 'wire', code: -32700, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the message is not valid JSON', hint: 'Send one UTF-8 JSON-RPC 2.0 message.' },
  bad_message:         { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'not a JSON-RPC 2.0 message: {reason}', hint: 'Send jsonrpc "2.0", a method, and for a request an id that is a string or an integer.' },
  duplicate_key:       { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the key "{key}" appears twice in one object', hint: 'Write each key once.' },
  too_deep:            { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the message is nested deeper than {limit} levels', hint: 'Flatten the message or raise limits.depth.' },
  too_large:           { where: 'wire', code: -32600, http: 413, refusal: 'MESSAGE_TOO_LARGE', text: 'the message is larger than {limit} bytes', hint: 'Send less at once or raise the message limit.' },
  id_in_use:           { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a request with id {id} is still being answered', hint: 'Give every request its own id.' },
  batch_refused:       { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a batch is not accepted here: {reason}', hint: 'Send messages one by one; only 2025-03-26 has batches.' },

  // Opening
  not_initialized:     { where: 'wire', code: -32600, http: 400, refusal: 'SERVER_UNINITIALIZED', retryable: true, text: '{method} came before initialize', hint: 'Send initialize first, or the 2026-07-28 metadata with every request.' },
  already_initialized: { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'this session is initialized already', hint: 'Open a new connection to negotiate again.' },
  revision_unsupported:{ where: 'wire', code: -32022, http: 400, refusal: 'INVALID_PROTOCOL_VERSION', text: 'protocol version {version} is not supported', hint: 'Use one of data.supported.' },
  version_header:      { where: 'wire', code: -32600, http: 400, refusal: 'INVALID_PROTOCOL_VERSION', text: 'the MCP-Protocol-Version header "{version}" is not supported', hint: 'Send the version that initialize agreed on.' },
  bad_envelope:        { where: 'wire', code: -32602, http: 400, refusal: 'MISSING_REQUIRED_FIELD', text: 'params._meta is not a 2026-07-28 envelope: {reason}', hint: 'Put protocolVersion and clientCapabilities into params._meta of every request.' },
  header_mismatch:     { where: 'wire', code: -32020, http: 400, refusal: 'INVALID_HEADER', text: 'the header {header} {reason}', hint: 'Repeat in the header exactly what the body says.' },
  missing_capability:  { where: 'wire', code: -32021, http: 400, text: 'this needs the client capability {capability}, which the request did not declare', hint: 'Declare the capability in the metadata of the request.' },

  // Routing
  unknown_method:      { where: 'wire', code: -32601, http: 200, httpFrom2026: 404, text: 'the method "{method}" does not exist at {revision}', hint: 'See docs/reference/methods.md for the methods of each revision.' },
  not_offered:         { where: 'wire', code: -32601, http: 200, httpFrom2026: 404, text: '"{method}" needs the capability {capability}, which this server does not offer', hint: 'Use only what the server declared.' },
  bad_params:          { where: 'wire', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'invalid params for {method}: {reason}', hint: 'Correct the params.' },
  unknown_tool:        { where: 'wire', code: -32602, http: 200, refusal: 'TOOL_NOT_FOUND', text: 'tool "{name}" does not exist{nearest}', hint: 'List the tools first.' },
  unknown_prompt:      { where: 'wire', code: -32602, http: 200, refusal: 'PROMPT_NOT_FOUND', text: 'prompt "{name}" does not exist{nearest}', hint: 'List the prompts first.' },
  unknown_resource:    { where: 'wire', code: -32602, codeBefore2026: -32002, http: 200, refusal: 'RESOURCE_NOT_FOUND', text: 'resource "{uri}" does not exist', hint: 'List the resources and templates first.' },
  unknown_completion:  { where: 'wire', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'nothing to complete: {reason}', hint: 'Name a prompt or a resource template and one of its arguments.' },
  bad_cursor:          { where: 'wire', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'the cursor is not one of this list', hint: 'Start again without a cursor.' },
  bad_state:           { where: 'wire', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'requestState was not accepted: {reason}', hint: 'Send the request again without requestState.' },
  tool_arguments:      { where: 'wire', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'arguments of tool "{name}" are invalid: {issue}', hint: 'Correct the arguments and call again.' },
  url_needed:          { where: 'wire', code: -32603, codeBefore2026: -32042, http: 200, text: 'this needs the user to visit a URL first', hint: 'Open the URL of each elicitation, then repeat the request.' },

  // HTTP
  forbidden_host:      { where: 'wire', code: -32600, http: 403, text: 'the Host "{host}" is not served here', hint: 'Name the host in http.hosts.' },
  forbidden_origin:    { where: 'wire', code: -32600, http: 403, text: 'the Origin "{origin}" is not allowed', hint: 'Name the origin in http.cors.' },
  bad_accept:          { where: 'wire', code: -32600, http: 406, text: 'the client accepts neither application/json nor text/event-stream', hint: 'Send Accept: application/json, text/event-stream.' },
  bad_type:            { where: 'wire', code: -32600, http: 415, refusal: 'INVALID_CONTENT_TYPE', text: 'the content type is not application/json', hint: 'Send Content-Type: application/json.' },
  bad_encoding:        { where: 'wire', code: -32600, http: 415, refusal: 'UNSUPPORTED_ENCODING', text: 'the content encoding "{encoding}" is not accepted', hint: 'Send the body uncompressed.' },
  bad_verb:            { where: 'wire', code: -32600, http: 405, text: 'the verb {verb} is not accepted here', hint: 'Use POST; sessions of 2025 also use GET and DELETE.' },
  unknown_path:        { where: 'wire', code: -32600, http: 404, text: 'nothing is served at this path', hint: 'POST to the path that the server printed, by default /mcp.' },
  session_required:    { where: 'wire', code: -32600, http: 400, refusal: 'INVALID_SESSION_ID', text: 'the Mcp-Session-Id header is missing', hint: 'Send initialize first and repeat the session id it answered.' },
  unknown_session:     { where: 'wire', code: -32001, http: 404, refusal: 'INVALID_SESSION_ID', text: 'the session does not exist or has ended', hint: 'Send initialize again without a session id.' },
  session_limit:       { where: 'wire', code: 1089, http: 503, refusal: 'RESOURCE_EXHAUSTED', retryable: true, text: 'this server holds {limit} sessions already', hint: 'Try again later, and end sessions with DELETE.' },
  stream_exists:       { where: 'wire', code: -32600, http: 409, text: 'this session has an open stream already', hint: 'Close the other stream, or resume it with Last-Event-ID.' },
  unknown_event:       { where: 'wire', code: -32600, http: 400, text: 'Last-Event-ID names no event of this session', hint: 'Open a new stream without Last-Event-ID.' },
  overloaded:          { where: 'wire', code: 1005, http: 503, refusal: 'BACKPRESSURE_ACTIVE', retryable: true, text: 'too many requests are being answered', hint: 'Try again later.' },
  too_many_bytes:      { where: 'wire', code: 1002, http: 429, refusal: 'QUEUE_BYTE_CAP_EXCEEDED', retryable: true, text: 'the server is reading too many bytes at once', hint: 'Try again later.' },
  shutting_down:       { where: 'wire', code: 1077, http: 503, refusal: 'SERVER_SHUTTING_DOWN', retryable: true, text: 'the server is shutting down', hint: 'Connect again later.' },
  internal:            { where: 'wire', code: -32603, http: 200, refusal: 'INTERNAL_ERROR', retryable: true, text: 'internal error (reference {reference})', hint: 'Look up the reference in the log of the server.' },

  // For the model
  tool_failed:         { where: 'result', code: -32603, http: 200, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" failed (reference {reference})', hint: 'Look up the reference in the log of the server.' },
  tool_input:          { where: 'result', code: -32602, http: 200, refusal: 'INVALID_PARAMS', text: 'arguments of tool "{name}" are invalid: {issue}', hint: 'Correct the arguments and call again.' },
  tool_output:         { where: 'result', code: -32603, http: 200, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" answered with something that breaks its output schema (reference {reference})', hint: 'Look up the reference in the log of the server.' },
  tool_timeout:        { where: 'result', code: -32603, http: 200, refusal: 'TIMEOUT', retryable: true, text: 'tool "{name}" did not finish within {ms} ms', hint: 'Ask for less, or raise the timeout of the tool.' },
  cannot_ask:          { where: 'result', code: -32603, http: 200, text: 'the client cannot be asked for {capability}: {reason}', hint: 'Check ctx.client.supports() before asking.' },
  ask_refused:         { where: 'result', code: -32603, http: 200, text: 'the client refused {method}: {reason}', hint: 'Ask for something the user is likely to allow.' },
  ask_invalid:         { where: 'result', code: -32603, http: 200, text: 'the client answered {method} with something invalid: {issue}', hint: 'Ask again.' },

  // In this process only
  input_required:      { where: 'local', code: -32603, http: 200, text: 'the request ends here until the client answers; the handler runs again then', hint: 'Let this error pass: do not catch it around ctx.elicit, ctx.sample or ctx.roots.' },
  cancelled:           { where: 'local', code: -32603, http: 200, text: 'the request was cancelled{reason}', hint: 'Stop the work.' },
  connection_closed:   { where: 'local', code: -32603, http: 200, text: 'the connection closed before {method} was answered', hint: 'Connect again.' },
  timeout:             { where: 'local', code: -32001, http: 200, refusal: 'TIMEOUT', retryable: true, text: '{method} was not answered within {ms} ms', hint: 'Raise the timeout, or ask for less.' },
  connect_failed:      { where: 'local', code: -32000, http: 200, refusal: 'TRANSPORT_ERROR', retryable: true, text: 'cannot connect to {target}: {reason}', hint: 'Check that the server is running and the address or command is right.' },
  session_lost:        { where: 'local', code: -32001, http: 200, refusal: 'SESSION_INVALID', text: 'the server no longer knows the session', hint: 'Connect again; what is safe to repeat was repeated.' },
  stream_lost:         { where: 'local', code: -32000, http: 200, refusal: 'TRANSPORT_ERROR', retryable: true, text: 'the stream broke before {method} was answered', hint: 'Repeat the request if that is safe.' },
  http_failed:         { where: 'local', code: -32000, http: 200, text: '{method} failed with HTTP status {status}{reason}', hint: 'Look at the status; 401 and 403 need credentials, 5xx a later try.' },
  bad_answer:          { where: 'local', code: -32600, http: 200, text: 'the server answered {method} with something invalid: {issue}', hint: 'Check that the address is that of an MCP server; if it is, report this to its author.' },
  answer_too_large:    { where: 'local', code: -32600, http: 200, text: 'the server sent more than {limit} {unit}', hint: 'Ask for less, or raise the limit.' },
  no_revision:         { where: 'local', code: -32022, http: 200, text: 'the server offers {offered}, none of which this client speaks', hint: 'Update the client or the server.' },
  remote:              { where: 'local', code: -32603, http: 200, text: '{message}', hint: 'The server gives the reason.' },
  closed:              { where: 'local', code: -32000, http: 200, text: 'the client is closed', hint: 'Connect again.' },
  bad_option:          { where: 'local', code: -32603, http: 200, text: '{where}: {reason}', hint: 'Correct the option.' },
  bad_definition:      { where: 'local', code: -32603, http: 200, text: '{item}: {reason}', hint: 'Correct the definition.' },
} as const
ERRORS satisfies Record<string, ErrorRow>

export type ErrorKind = keyof typeof ERRORS

type Slots<Text extends string> = Text extends `${string}{${infer Slot}}${infer Rest}`
  ? Slot | Slots<Rest>
  : never
type FactsOf<Kind extends ErrorKind> = Readonly<Record<Slots<(typeof ERRORS)[Kind]['text']>, string | number>>

export interface ErrorExtras {
  /** Members of `error.data` besides the refusal. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
  readonly retryAfterMs?: number
  /** The code that came over the wire, where it is not the kind's own. */
  readonly code?: number
}

/** The one error class. Switch on `kind`; `hint` says what to do. */
export class McpError extends Error {
  readonly kind: ErrorKind
  readonly code: number
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly hint: string
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined

  constructor(kind: ErrorKind, message: string, extras: ErrorExtras = {}) {
    super(printable(message), 'cause' in extras ? { cause: extras.cause } : undefined)
    const row: ErrorRow = ERRORS[kind]
    this.kind = kind
    this.code = extras.code ?? row.code
    this.data = extras.data
    this.hint = row.hint
    this.retryable = row.retryable === true
    this.retryAfterMs = extras.retryAfterMs
  }

  override get name(): string {
    return 'McpError'
  }
}

/** An error of a catalogued kind. Leaving out a fact that its text needs does not compile. */
export function mcpError<Kind extends ErrorKind>(
  kind: Kind,
  facts: FactsOf<Kind>,
  extras?: ErrorExtras,
): McpError {
  const values = facts as Readonly<Record<string, string | number>>
  const message = ERRORS[kind].text.replace(/\{(\w+)\}/g, (_, slot: string) => String(values[slot]))
  return new McpError(kind, message, extras)
}

/** The error object of a reply at a revision: official code first, the refusal in `data`. */
export function toErrorObject(error: McpError, revision: Revision | undefined): ErrorObject {
  const row: ErrorRow = ERRORS[error.kind]
  const early = revision !== undefined && revision < '2026-07-28'
  const code = early ? (row.codeBefore2026 ?? row.code) : row.code
  const refusal = toRefusal(error)
  if (refusal === undefined && error.data === undefined) return { code, message: error.message }
  return {
    code,
    message: error.message,
    data: refusal === undefined ? error.data : { ...error.data, refusal },
  }
}

/** The refusal that belongs to an error, as it travels in `error.data` or in the `_meta` of a tool result. */
export function toRefusal(error: McpError): Readonly<Record<string, unknown>> | undefined {
  const { refusal }: ErrorRow = ERRORS[error.kind]
  if (refusal === undefined) return undefined
  const { code, http, severity } = REFUSALS[refusal]
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }
  return { code, name: refusal, httpStatus: http, severity, retryable: error.retryable, ...retryAfter }
}

/** The HTTP status for a request that ends in this error. */
export function toStatus(error: McpError, revision: Revision | undefined): number {
  const row: ErrorRow = ERRORS[error.kind]
  return revision === '2026-07-28' ? (row.httpFrom2026 ?? row.http) : row.http
}
