import { addErrors, type ErrorTable, type MakeError } from './error.ts'

/** The errors of parts of a server that are loaded when they are needed. */
// oxfmt-ignore
export const LATE_ERRORS = {
  // Features
  uri_too_long:         { where: 'wire', code: -32602, refusal: 'INVALID_URI', text: 'the URI is longer than {limit} characters' },
  unknown_resource:     { where: 'wire', code: -32602, codeBefore2026: -32002, refusal: 'RESOURCE_NOT_FOUND', text: 'resource "{uri}" does not exist' },
  resource_denied:      { where: 'wire', code: 1014, refusal: 'AUTHZ_FORBIDDEN', text: 'this caller may not read "{uri}"' },
  unsupported_type:     { where: 'wire', code: -32600, refusal: 'INVALID_CONTENT_TYPE', text: 'the type "{type}" of {uri} is none of those that this server serves' },
  unknown_prompt:       { where: 'wire', code: -32602, refusal: 'PROMPT_NOT_FOUND', text: 'prompt "{name}" does not exist{nearest}' },
  prompt_arguments:     { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'arguments of prompt "{name}" are invalid: {issue}' },
  unknown_completion:   { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'nothing to complete: {reason}' },
  completion_context:   { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'invalid params for completion/complete: {reason}' },
  bad_progress_token:   { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'the progress token is neither a string nor an integer' },
  progress_failed:      { where: 'wire', code: -32603, refusal: 'INTERNAL_ERROR', retryable: true, text: 'progress could not be reported: {reason}' },
  too_many_subscriptions: { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'this session has {limit} subscriptions already' },
  too_many_streams:     { where: 'wire', code: 1060, http: 429, refusal: 'CONCURRENT_LIMIT_EXCEEDED', retryable: true, text: 'this caller listens on {limit} streams already' },

  // Questions to the client
  missing_capability:   { where: 'wire', code: -32021, http: 400, text: 'this needs the client capability {capability}, which the request did not declare', hint: 'Declare it in the metadata of the request; connect does for what is in answers: { elicit, sample, roots }.' },
  url_needed:           { where: 'wire', code: -32603, codeBefore2026: -32042, text: 'this needs the user to visit a URL first', hint: 'Open the URL of each elicitation, then repeat the request.' },
  cannot_ask:           { where: 'result', code: -32603, text: 'the client cannot be asked for {capability}: {reason}', hint: 'Check ctx.client.supports() before asking.' },
  ask_invalid:          { where: 'result', code: -32603, text: 'the client answered {method} with something invalid: {issue}', hint: 'Ask again.' },
  input_required:       { where: 'local', code: -32603, text: 'the request ends here until the client answers; the handler runs again then', hint: 'Let this error pass: do not catch it around ctx.elicit, ctx.sample or ctx.roots.' },
  bad_state:            { where: 'wire', code: -32602, refusal: 'INVALID_PARAMS', text: 'requestState was not accepted: {reason}' },

  // Load
  session_limit:        { where: 'wire', code: 1089, http: 503, refusal: 'RESOURCE_EXHAUSTED', retryable: true, text: 'this server holds {limit} sessions already' },
  too_many_connections: { where: 'wire', code: 1089, http: 503, refusal: 'RESOURCE_EXHAUSTED', retryable: true, text: 'this server holds {limit} connections already' },
} as const
LATE_ERRORS satisfies ErrorTable

export type LateErrorKind = keyof typeof LATE_ERRORS

export const lateError: MakeError<typeof LATE_ERRORS> = /* @__PURE__ */ addErrors(LATE_ERRORS)
