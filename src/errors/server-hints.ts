import type { ErrorKind, ErrorTable } from './error.ts'

/** The same errors, each with what to do about it. */
export function withHints(table: ErrorTable): ErrorTable {
  const hints = new Map<string, string>(Object.entries(SERVER_HINTS))
  return Object.fromEntries(
    Object.entries(table).map(([kind, row]) => [kind, { ...row, hint: row.hint ?? hints.get(kind) ?? '' }]),
  )
}

/**
 * What to do about the errors that servers send away, for those who get them: clients load this with the first, and a
 * server has no use for it.
 */
// oxfmt-ignore
const SERVER_HINTS = {
  parse_failed:         'Send one UTF-8 JSON-RPC 2.0 message.',
  bad_message:          'Send jsonrpc "2.0", a method, and for a request an id that is a string or an integer.',
  duplicate_key:        'Write each key once.',
  too_deep:             'Flatten the message or raise limits.depth.',
  bad_params:           'Correct the params.',
  internal:             'Look up the reference in the log of the server.',
  id_in_use:            'Give every request its own id.',
  batch_refused:        'Send messages one by one; only 2025-03-26 has batches.',
  batch_too_long:       'Send several shorter batches, or raise limits.batch.',
  too_many_keys:        'Send less at once, or raise limits.keys.',
  string_too_long:      'Send less at once, or raise limits.stringLength.',
  id_too_long:          'Use a shorter id, or raise limits.idLength.',
  method_too_long:      'See docs/reference/methods.md.',
  name_too_long:        'List the tools or prompts first.',
  uri_too_long:         'Use a shorter URI, or raise limits.uriLength.',
  cursor_too_long:      'Start again without a cursor.',
  resource_denied:      'Ask whoever runs the server for access.',
  completion_context:   'Send context.arguments as an object of strings.',
  bad_progress_token:   'Send a string or an integer as the progress token.',
  progress_failed:      'Try again, or ask without a progress token.',
  too_many_subscriptions: 'Unsubscribe from something first.',
  too_many_streams:     'Listen for everything on one stream, or raise limits.streams.',
  not_initialized:      'Send initialize first, or the 2026-07-28 metadata with every request.',
  already_initialized:  'Open a new connection to negotiate again.',
  version_rejected:     'Use one of data.supported.',
  bad_capabilities:     'Send capabilities as an object, {} for none.',
  revision_unsupported: 'Use one of data.supported.',
  header_mismatch:      'Repeat in the header exactly what the body says.',
  bad_envelope:         'Put protocolVersion and clientCapabilities into params._meta of every request.',
  unsupported_type:     'Give the resource a known type, or leave strictMime off.',
  unknown_tool:         'List the tools first.',
  unknown_prompt:       'List the prompts first.',
  unknown_resource:     'List the resources and templates first.',
  unknown_completion:   'Name a prompt or a resource template and one of its arguments.',
  bad_cursor:           'Start again without a cursor.',
  cursor_expired:       'Start again without a cursor.',
  prompt_arguments:     'Correct the arguments and ask again.',
  bad_state:            'Send the request again without requestState.',
  session_limit:        'Try again later, and end sessions with DELETE.',
  shutting_down:        'Connect again later.',
  too_many_connections: 'Try again later, close connections that are not used, or raise limits.connections.',
  too_many_calls:       'Wait for an answer before sending more, or raise limits.inFlight.',
  tool_failed:          'Look up the reference in the log of the server.',
  tool_input:           'Correct the arguments and call again.',
  tool_output:          'Look up the reference in the log of the server.',
  tool_timeout:         'Ask for less, or raise the timeout of the tool.',
} as const
SERVER_HINTS satisfies Readonly<Partial<Record<ErrorKind, string>>>
