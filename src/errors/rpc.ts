/* Errors of the request lifecycle: routing, admission, cancellation and shutdown. */

export const UNKNOWN_METHOD = {
  kind: 'unknown_method',
  code: -32601,
  httpFrom2026: 404,
  refusal: 'PROTOCOL_ERROR',
  text: 'the method "{method}" does not exist at {revision}',
  hint: 'Use a method of this revision; docs/reference/methods.md lists them.',
} as const

export const NOT_OFFERED = {
  kind: 'not_offered',
  code: -32601,
  httpFrom2026: 404,
  refusal: 'PROTOCOL_ERROR',
  text: '"{method}" needs the capability {capability}, which this server does not offer',
  hint: 'Call only methods whose capability the server declared.',
} as const

export const OVERLOADED = {
  kind: 'overloaded',
  code: 1005,
  http: 503,
  refusal: 'BACKPRESSURE_ACTIVE',
  retryable: true,
  text: 'the server is working on too many requests',
  hint: 'Send the request again later; operators can raise limits.allInFlight.',
} as const

export const CANCELLED = {
  kind: 'cancelled',
  where: 'local',
  code: -32603,
  text: 'the request was cancelled{reason}',
  hint: 'Stop the work; nobody waits for it.',
} as const

export const CONNECTION_CLOSED = {
  kind: 'connection_closed',
  where: 'local',
  code: -32603,
  text: 'the connection closed before {method} was answered',
  hint: 'Connect again, and repeat the request if that is safe.',
} as const

export const TIMEOUT = {
  kind: 'timeout',
  where: 'local',
  code: -32001,
  refusal: 'TIMEOUT',
  retryable: true,
  text: '{method} was not answered within {ms} ms',
  hint: 'Raise the timeout, or ask for less.',
} as const

export const CLOSED = {
  kind: 'closed',
  where: 'local',
  code: -32000,
  text: 'the client is closed',
  hint: 'Create a new client with connect().',
} as const

export const SHUTTING_DOWN = {
  kind: 'shutting_down',
  code: 1077,
  http: 503,
  refusal: 'SERVER_SHUTTING_DOWN',
  retryable: true,
  text: 'the server is shutting down',
  hint: 'Connect again later.',
} as const
