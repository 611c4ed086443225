/* Errors that several transports share. */

export const CONNECT_FAILED = {
  kind: 'connect_failed',
  where: 'local',
  code: -32000,
  refusal: 'TRANSPORT_ERROR',
  retryable: true,
  text: 'cannot connect to {target}: {reason}',
  hint: 'Check that the server is running and the address or command is right.',
} as const

export const STREAM_LOST = {
  kind: 'stream_lost',
  where: 'local',
  code: -32000,
  refusal: 'TRANSPORT_ERROR',
  retryable: true,
  text: 'the stream broke before {method} was answered',
  hint: 'Repeat the request if that is safe.',
} as const

export const SESSION_LIMIT = {
  kind: 'session_limit',
  where: 'wire',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'this server holds {limit} sessions already',
  hint: 'Try again later, and end sessions with DELETE.',
} as const

export const TOO_MANY_CONNECTIONS = {
  kind: 'too_many_connections',
  where: 'wire',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'this server holds {limit} connections already',
  hint: 'Try again later, close connections that are not used, or raise limits.connections.',
} as const

export const SLOW_SENDER = {
  kind: 'slow_sender',
  where: 'wire',
  code: -32600,
  http: 408,
  refusal: 'TIMEOUT',
  retryable: true,
  text: 'the request did not come in time',
  hint: 'Send faster, or raise limits.headersMs or limits.bodyMs.',
} as const

export const TOO_MANY_BYTES = {
  kind: 'too_many_bytes',
  where: 'wire',
  code: 1002,
  http: 429,
  refusal: 'QUEUE_BYTE_CAP_EXCEEDED',
  retryable: true,
  text: 'the server is reading too many bytes at once',
  hint: 'Try again later.',
} as const

export const TOO_MUCH_UNSENT = {
  kind: 'too_much_unsent',
  where: 'wire',
  code: 1004,
  http: 503,
  refusal: 'BUFFER_OVERFLOW',
  retryable: true,
  text: 'too much waits for clients that read slowly',
  hint: 'Read answers as they come, and try again later; limits.unsentBytes says how much may wait.',
} as const
