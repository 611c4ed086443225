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
  text: 'the server already has {limit} sessions open',
  hint: 'Try again later, end unused sessions with DELETE, or raise limits.sessions.',
} as const

export const TOO_MANY_CONNECTIONS = {
  kind: 'too_many_connections',
  where: 'wire',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server already has {limit} connections open',
  hint: 'Try again later, close unused connections, or raise limits.connections.',
} as const

export const SLOW_SENDER = {
  kind: 'slow_sender',
  where: 'wire',
  code: -32600,
  http: 408,
  refusal: 'TIMEOUT',
  retryable: true,
  text: 'the request did not arrive in time',
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
  hint: 'Try again later, send less at once, or raise limits.unparsedBytes.',
} as const

export const TOO_MUCH_UNSENT = {
  kind: 'too_much_unsent',
  where: 'wire',
  code: 1004,
  http: 503,
  refusal: 'BUFFER_OVERFLOW',
  retryable: true,
  text: 'too much output is waiting for slow readers',
  hint: 'Read answers as they arrive and try again later, or raise limits.unsentBytes.',
} as const
