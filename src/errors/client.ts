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
  text: 'the server answered {method} with something invalid: {issue}',
  hint: 'Check that the address is that of an MCP server; if it is, report this to its author.',
} as const

export const ANSWER_TOO_LARGE = {
  kind: 'answer_too_large',
  where: 'local',
  code: -32600,
  text: 'the server sent more than {limit} {unit}',
  hint: 'Ask for less, or raise the limit.',
} as const

export const NO_REVISION = {
  kind: 'no_revision',
  where: 'local',
  code: -32022,
  text: 'the server offers {offered}, none of which this client speaks',
  hint: 'Update the client or the server.',
} as const

export const REMOTE = {
  kind: 'remote',
  where: 'local',
  code: -32603,
  text: '{message}',
  hint: 'The server gives the reason.',
} as const
