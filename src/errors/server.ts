import { addErrors, type ErrorTable, type MakeError } from './error.ts'

/** The errors that only servers throw, over every transport; those of parts that are loaded when needed stand apart. */
// oxfmt-ignore
export const SERVER_ERRORS = {
  // Reading and routing
  id_in_use:            { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a request with id {id} is still being answered' },
  batch_refused:        { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a batch is not accepted here: {reason}' },
  batch_too_long:       { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a batch is not accepted here: it has more than {limit} members' },
  too_many_keys:        { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the objects of the message have more than {limit} members' },
  string_too_long:      { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a string in the message is longer than {limit} characters' },
  id_too_long:          { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the id is longer than {limit} characters' },
  method_too_long:      { where: 'wire', code: -32601, httpFrom2026: 404, refusal: 'PROTOCOL_ERROR', text: 'the method is longer than {limit} characters' },
  name_too_long:        { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the name is longer than {limit} characters' },
  cursor_too_long:      { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the cursor is longer than {limit} characters' },
  not_initialized:      { where: 'wire', code: -32600, http: 400, refusal: 'SERVER_UNINITIALIZED', retryable: true, text: '{method} came before initialize' },
  already_initialized:  { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'this session is initialized already' },
  version_rejected:     { where: 'wire', code: -32602, refusal: 'INVALID_PROTOCOL_VERSION', text: 'protocol version {version} is not served here' },
  bad_capabilities:     { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'invalid params for initialize: {reason}' },
  revision_unsupported: { where: 'wire', code: -32022, http: 400, refusal: 'INVALID_PROTOCOL_VERSION', text: 'protocol version {version} is not supported' },
  header_mismatch:      { where: 'wire', code: -32020, http: 400, refusal: 'INVALID_HEADER', text: 'the header {header} {reason}' },
  bad_envelope:         { where: 'wire', code: -32602, http: 400, refusal: 'MISSING_REQUIRED_FIELD', text: 'params._meta is not a 2026-07-28 envelope: {reason}' },
  unknown_tool:         { where: 'wire', code: -32602, refusal: 'TOOL_NOT_FOUND', text: 'tool "{name}" does not exist{nearest}' },
  bad_cursor:           { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the cursor is not one of this list' },
  cursor_expired:       { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the cursor is older than {ms} ms' },
  description_too_long: { where: 'wire', code: -32602, text: '{item}: the description has {length} characters; shorten it, or raise limits.descriptionLength', hint: 'Shorten the description.' },
  resource_exists:      { where: 'wire', code: -32602, refusal: 'RESOURCE_DUPLICATE', text: 'resource "{uri}": it is defined already; remove it first to replace it', hint: 'Remove the first, or choose another URI.' },
  shutting_down:        { where: 'wire', code: 1077, http: 503, refusal: 'SERVER_SHUTTING_DOWN', retryable: true, text: 'the server is shutting down' },
  too_many_calls:       { where: 'wire', code: 1060, http: 429, refusal: 'CONCURRENT_LIMIT_EXCEEDED', retryable: true, text: '{limit} requests of this caller are being answered already' },

  // For the model
  tool_failed:          { where: 'result', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" failed (reference {reference})' },
  tool_input:           { where: 'result', code: -32602, refusal: 'INVALID_PARAMS', text: 'arguments of tool "{name}" are invalid: {issue}' },
  tool_output:          { where: 'result', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" answered with something that breaks its output schema (reference {reference})' },
  tool_timeout:         { where: 'result', code: -32603, refusal: 'TIMEOUT', retryable: true, text: 'tool "{name}" did not finish within {ms} ms' },
  ask_refused:          { where: 'result', code: -32603, text: 'the client refused {method}: {reason}', hint: 'Ask for something the user is likely to allow.' },

  // In this process only
  bad_definition:       { where: 'local', code: -32603, text: '{item}: {reason}', hint: 'Correct the definition.' },
} as const
SERVER_ERRORS satisfies ErrorTable

export type ServerErrorKind = keyof typeof SERVER_ERRORS

export const serverError: MakeError<typeof SERVER_ERRORS> = /* @__PURE__ */ addErrors(SERVER_ERRORS)
