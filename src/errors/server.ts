/* Errors of servers: messages that only they receive, tools, resources, prompts, completion and questions. */

export const TOOL_ARGUMENTS = {
  kind: 'tool_arguments',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'arguments of tool "{name}" are invalid: {issue}',
  hint: 'Send arguments that match the schema of the tool.',
} as const

export const NAME_TOO_LONG = {
  kind: 'name_too_long',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the name is longer than {limit} characters',
  hint: 'Use a name from tools/list or prompts/list.',
} as const

export const CURSOR_TOO_LONG = {
  kind: 'cursor_too_long',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the cursor is longer than {limit} characters',
  hint: 'Start again without a cursor.',
} as const

export const ALREADY_INITIALIZED = {
  kind: 'already_initialized',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'this session is already initialized',
  hint: 'Open a new connection to negotiate again.',
} as const

export const VERSION_REJECTED = {
  kind: 'version_rejected',
  code: -32602,
  refusal: 'INVALID_PROTOCOL_VERSION',
  text: 'protocol version {version} is not served here',
  hint: 'Use one of data.supported.',
} as const

export const BAD_CAPABILITIES = {
  kind: 'bad_capabilities',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'invalid params for initialize: {reason}',
  hint: 'Send capabilities as an object; {} means none.',
} as const

export const UNKNOWN_TOOL = {
  kind: 'unknown_tool',
  code: -32602,
  refusal: 'TOOL_NOT_FOUND',
  text: 'tool "{name}" does not exist{nearest}',
  hint: 'List the tools first.',
} as const

export const BAD_CURSOR = {
  kind: 'bad_cursor',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the cursor does not belong to this list',
  hint: 'Start again without a cursor.',
} as const

export const CURSOR_EXPIRED = {
  kind: 'cursor_expired',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the cursor is older than {ms} ms',
  hint: 'Start again without a cursor.',
} as const

export const DESCRIPTION_TOO_LONG = {
  kind: 'description_too_long',
  code: -32602,
  text: '{item}: the description has {length} characters; shorten it, or raise limits.descriptionLength',
  hint: 'Shorten the description, or raise limits.descriptionLength.',
} as const

export const RESOURCE_EXISTS = {
  kind: 'resource_exists',
  code: -32602,
  refusal: 'RESOURCE_DUPLICATE',
  text: 'resource "{uri}": it already exists; change it with app.update, or remove it first to replace it',
  hint: 'Update or remove the existing resource, or choose another URI.',
} as const

export const TOOL_FAILED = {
  kind: 'tool_failed',
  where: 'result',
  code: -32603,
  refusal: 'INTERNAL_ERROR',
  retryable: true,
  text: 'tool "{name}" failed (reference {reference})',
  hint: 'Look up the reference in the log of the server.',
} as const

export const TOOL_INPUT = {
  kind: 'tool_input',
  where: 'result',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'arguments of tool "{name}" are invalid: {issue}',
  hint: 'Send arguments that match the input schema, which tools/list shows.',
} as const

export const TOOL_OUTPUT = {
  kind: 'tool_output',
  where: 'result',
  code: -32603,
  refusal: 'INTERNAL_ERROR',
  retryable: true,
  text: 'tool "{name}" returned a value that does not match its output schema (reference {reference})',
  hint: 'Look up the reference in the log of the server.',
} as const

export const TOOL_TIMEOUT = {
  kind: 'tool_timeout',
  where: 'result',
  code: -32603,
  refusal: 'TIMEOUT',
  retryable: true,
  text: 'tool "{name}" did not finish within {ms} ms',
  hint: 'Ask for less, or raise the timeout of the tool.',
} as const

export const BAD_DEFINITION = {
  kind: 'bad_definition',
  where: 'local',
  code: -32603,
  text: '{item}: {reason}',
  hint: 'Change the definition as the message says; docs/guides/server.md shows valid ones.',
} as const

export const URI_TOO_LONG = {
  kind: 'uri_too_long',
  code: -32602,
  refusal: 'INVALID_URI',
  text: 'the URI is longer than {limit} characters',
  hint: 'Use a shorter URI, or raise limits.uriLength.',
} as const

export const URI_TOO_COSTLY = {
  kind: 'uri_too_costly',
  code: -32602,
  refusal: 'INVALID_URI',
  text: 'matching this URI against {count} templates takes too long',
  hint: 'Use a shorter URI, or name fewer in one request.',
} as const

export const UNKNOWN_RESOURCE = {
  kind: 'unknown_resource',
  code: -32602,
  codeBefore2026: -32002,
  refusal: 'RESOURCE_NOT_FOUND',
  text: 'resource "{uri}" does not exist{nearest}',
  hint: 'List the resources and templates first.',
} as const

export const RESOURCE_DENIED = {
  kind: 'resource_denied',
  code: 1014,
  refusal: 'AUTHZ_FORBIDDEN',
  text: 'this caller may not read "{uri}"',
  hint: 'Ask the operator of the server for access.',
} as const

export const INSUFFICIENT_SCOPE = {
  kind: 'insufficient_scope',
  code: 1014,
  http: 403,
  refusal: 'AUTHZ_FORBIDDEN',
  text: '{item} needs the scopes {scopes}; the caller lacks {missing}',
  hint: 'Call with credentials that have the scopes in data.scopes.',
} as const

export const UNKNOWN_PROMPT = {
  kind: 'unknown_prompt',
  code: -32602,
  refusal: 'PROMPT_NOT_FOUND',
  text: 'prompt "{name}" does not exist{nearest}',
  hint: 'List the prompts first.',
} as const

export const PROMPT_ARGUMENTS = {
  kind: 'prompt_arguments',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'arguments of prompt "{name}" are invalid: {issue}',
  hint: 'Send the arguments that prompts/list shows, each as a string.',
} as const

export const UNKNOWN_COMPLETION = {
  kind: 'unknown_completion',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'nothing to complete: {reason}',
  hint: 'Name a prompt or a resource template and one of its arguments.',
} as const

export const COMPLETION_CONTEXT = {
  kind: 'completion_context',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'invalid params for completion/complete: {reason}',
  hint: 'Send context.arguments as an object of strings.',
} as const

export const PROGRESS_FAILED = {
  kind: 'progress_failed',
  code: -32603,
  refusal: 'INTERNAL_ERROR',
  retryable: true,
  text: 'progress could not be reported: {reason}',
  hint: 'Try again, or send the request without a progress token.',
} as const

export const TOO_MANY_SUBSCRIPTIONS = {
  kind: 'too_many_subscriptions',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'this session already has {limit} subscriptions',
  hint: 'Unsubscribe from something first.',
} as const

export const TOO_MUCH_HELD = {
  kind: 'too_much_held',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server has no room to keep this: all clients share {limit} bytes, and one gets at most {share} of what the others leave',
  hint: 'Unsubscribe from something, end unused sessions, keep less in them, give shorter answers, or raise limits.heldBytes.',
} as const

export const SESSION_TOO_LARGE = {
  kind: 'session_too_large',
  code: -32603,
  text: 'the session cannot keep this: its values would take more than {limit} bytes',
  hint: 'Delete values that are no longer needed, keep large ones in a store of your own, or raise limits.sessionBytes.',
} as const

export const TOO_MANY_STREAMS = {
  kind: 'too_many_streams',
  code: 1060,
  http: 429,
  refusal: 'CONCURRENT_LIMIT_EXCEEDED',
  retryable: true,
  text: 'this caller already has {limit} listen streams open',
  hint: 'Listen for everything on one stream, or raise limits.streams.',
} as const

export const MISSING_CAPABILITY = {
  kind: 'missing_capability',
  code: -32021,
  http: 400,
  text: 'this needs the client capability {capability}, which the request did not declare',
  hint: 'Declare it in the metadata of the request; connect() declares what you pass in answers: { elicit, sample, roots }.',
} as const

export const URL_NEEDED = {
  kind: 'url_needed',
  code: -32603,
  codeBefore2026: -32042,
  text: 'the user must visit a URL first',
  hint: 'Show the user the URL of each elicitation, open it if they agree, then repeat the request.',
} as const

export const CANNOT_ASK = {
  kind: 'cannot_ask',
  where: 'result',
  code: -32603,
  text: 'the client cannot be asked for {capability}: {reason}',
  hint: 'Check ctx.client.supports() before asking.',
} as const

export const ASK_INVALID = {
  kind: 'ask_invalid',
  where: 'result',
  code: -32603,
  text: 'the client sent an invalid answer to {method}: {issue}',
  hint: 'Ask again, or continue without the answer.',
} as const

export const INPUT_REQUIRED = {
  kind: 'input_required',
  where: 'local',
  code: -32603,
  text: 'the request ends here; the handler runs again when the client has answered',
  hint: 'Let this error propagate: do not catch it around ctx.elicit, ctx.sample or ctx.roots.',
} as const

export const BAD_STATE = {
  kind: 'bad_state',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'requestState was not accepted: {reason}',
  hint: 'Send the request again without requestState. Servers that share clients need the same secret: createServer({ secret }), or PIERHEAD_SECRET.',
} as const

export const STATE_TOO_LARGE = {
  kind: 'state_too_large',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the answers and `ctx.once` values of this request exceed {limit} bytes',
  hint: 'Send shorter answers. In the server, keep large values in a store, and only their key in ctx.once.',
} as const

export const ASK_REFUSED = {
  kind: 'ask_refused',
  where: 'result',
  code: -32603,
  text: 'the client refused {method}: {reason}',
  hint: 'Ask for something the user is likely to allow.',
} as const

export const NOT_INITIALIZED = {
  kind: 'not_initialized',
  code: -32600,
  http: 400,
  refusal: 'SERVER_UNINITIALIZED',
  retryable: true,
  text: '{method} arrived before initialize',
  hint: 'Send initialize first, or the 2026-07-28 metadata with every request.',
} as const

export const BATCH_REFUSED = {
  kind: 'batch_refused',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'a batch is not accepted here: {reason}',
  hint: 'Send messages one by one; only 2025-03-26 has batches.',
} as const

export const BAD_ENVELOPE = {
  kind: 'bad_envelope',
  code: -32602,
  http: 400,
  refusal: 'MISSING_REQUIRED_FIELD',
  text: 'params._meta is not a 2026-07-28 envelope: {reason}',
  hint: 'Put protocolVersion and clientCapabilities into params._meta of every request.',
} as const
