/* Errors that only a client meets. */

export const SESSION_LOST = {
  kind: 'session_lost',
  where: 'local',
  code: -32001,
  refusal: 'SESSION_INVALID',
  text: 'the server no longer knows the session',
  hint: 'Connect again; what is safe to repeat was repeated.',
} as const

export const BAD_ANSWER = {
  kind: 'bad_answer',
  where: 'local',
  code: -32600,
  text: 'the server sent an invalid answer to {method}: {issue}',
  hint: 'Check the address; if it belongs to an MCP server, report this to its author.',
} as const

export const ANSWER_TOO_LARGE = {
  kind: 'answer_too_large',
  where: 'local',
  code: -32600,
  text: 'the server sent more than {limit} {unit}',
  hint: 'Ask for less, or raise limits.clientBytes, limits.clientUnparsedBytes or limits.pages.',
} as const

export const NO_REVISION = {
  kind: 'no_revision',
  where: 'local',
  code: -32022,
  text: 'the server offers only {offered}, which this client does not support',
  hint: 'Update the client or the server.',
} as const

export const REMOTE = {
  kind: 'remote',
  where: 'local',
  code: -32603,
  text: '{message}',
  hint: 'Read the message: the server states the reason in it. If it is retryable, try again later.',
} as const

export const HTTP_FAILED = {
  kind: 'http_failed',
  where: 'local',
  code: -32000,
  text: '{method} failed with HTTP status {status}{reason}',
  hint: 'Check the URL, and what the server expects there.',
} as const
