import { addErrors, type ErrorTable, type MakeError } from './errors.ts'

/** The errors that only servers throw, over every transport. */
// oxfmt-ignore
export const SERVER_ERRORS = {
  // Reading and routing
  id_in_use:            { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a request with id {id} is still being answered', hint: 'Give every request its own id.' },
  batch_refused:        { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a batch is not accepted here: {reason}', hint: 'Send messages one by one; only 2025-03-26 has batches.' },
  batch_too_long:       { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'a batch is not accepted here: it has more than {limit} members', hint: 'Send several shorter batches, or raise limits.batch.' },
  id_too_long:          { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'the id is longer than {limit} characters', hint: 'Use a shorter id, or raise limits.idLength.' },
  method_too_long:      { where: 'wire', code: -32601, httpFrom2026: 404, text: 'the method is longer than {limit} characters, and none is', hint: 'See docs/reference/methods.md for the methods of each revision.' },
  name_too_long:        { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the name is longer than {limit} characters, and none is', hint: 'List the tools or prompts first.' },
  uri_too_long:         { where: 'wire', code: -32602, refusal: 'INVALID_URI', text: 'the URI is longer than {limit} characters', hint: 'Use a shorter URI, or raise limits.uriLength.' },
  cursor_too_long:      { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the cursor is longer than {limit} characters, and none of this list is', hint: 'Start again without a cursor.' },
  too_many_streams:     { where: 'wire', code: 1060, http: 429, refusal: 'CONCURRENT_LIMIT_EXCEEDED', retryable: true, text: 'this caller listens on {limit} streams already', hint: 'Listen for everything on one stream, or raise limits.streams.' },
  already_initialized:  { where: 'wire', code: -32600, http: 400, refusal: 'PROTOCOL_ERROR', text: 'this session is initialized already', hint: 'Open a new connection to negotiate again.' },
  bad_envelope:         { where: 'wire', code: -32602, http: 400, refusal: 'MISSING_REQUIRED_FIELD', text: 'params._meta is not a 2026-07-28 envelope: {reason}', hint: 'Put protocolVersion and clientCapabilities into params._meta of every request.' },
  unknown_completion:   { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'nothing to complete: {reason}', hint: 'Name a prompt or a resource template and one of its arguments.' },
  bad_cursor:           { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the cursor is not one of this list', hint: 'Start again without a cursor.' },
  bad_state:            { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'requestState was not accepted: {reason}', hint: 'Send the request again without requestState.' },
  too_many_connections: { where: 'wire', code: 1089, http: 503, refusal: 'RESOURCE_EXHAUSTED', retryable: true, text: 'this server holds {limit} connections already', hint: 'Try again later, close connections that are not used, or raise limits.connections.' },
  too_many_calls:       { where: 'wire', code: 1060, http: 429, refusal: 'CONCURRENT_LIMIT_EXCEEDED', retryable: true, text: '{limit} requests of this caller are being answered already', hint: 'Wait for an answer before sending more, or raise limits.inFlight.' },

  // For the model
  tool_failed:          { where: 'result', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" failed (reference {reference})', hint: 'Look up the reference in the log of the server.' },
  tool_input:           { where: 'result', code: -32602, refusal: 'INVALID_PARAMS', text: 'arguments of tool "{name}" are invalid: {issue}', hint: 'Correct the arguments and call again.' },
  tool_output:          { where: 'result', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'tool "{name}" answered with something that breaks its output schema (reference {reference})', hint: 'Look up the reference in the log of the server.' },
  tool_timeout:         { where: 'result', code: -32603, refusal: 'TIMEOUT', retryable: true, text: 'tool "{name}" did not finish within {ms} ms', hint: 'Ask for less, or raise the timeout of the tool.' },
  cannot_ask:           { where: 'result', code: -32603, text: 'the client cannot be asked for {capability}: {reason}', hint: 'Check ctx.client.supports() before asking.' },
  ask_refused:          { where: 'result', code: -32603, text: 'the client refused {method}: {reason}', hint: 'Ask for something the user is likely to allow.' },
  ask_invalid:          { where: 'result', code: -32603, text: 'the client answered {method} with something invalid: {issue}', hint: 'Ask again.' },

  // In this process only
  input_required:       { where: 'local', code: -32603, text: 'the request ends here until the client answers; the handler runs again then', hint: 'Let this error pass: do not catch it around ctx.elicit, ctx.sample or ctx.roots.' },
  bad_definition:       { where: 'local', code: -32603, text: '{item}: {reason}', hint: 'Correct the definition.' },
} as const
SERVER_ERRORS satisfies ErrorTable

export type ServerErrorKind = keyof typeof SERVER_ERRORS

export const serverError: MakeError<typeof SERVER_ERRORS> = /* @__PURE__ */ addErrors(SERVER_ERRORS)
