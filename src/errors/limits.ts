/* Errors of a server that reached a limit. */

export const BATCH_TOO_LONG = {
  kind: 'batch_too_long',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'a batch is not accepted here: it has more than {limit} members',
  hint: 'Send several shorter batches, or raise limits.batch.',
} as const

export const BATCH_ANSWERS = {
  kind: 'batch_answers',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the answers to this batch take more than {limit} characters together',
  hint: 'Send the request by itself.',
} as const

export const STRING_TOO_LONG = {
  kind: 'string_too_long',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'a string in the message is longer than {limit} characters',
  hint: 'Send less at once, or raise limits.stringLength.',
} as const

export const ID_TOO_LONG = {
  kind: 'id_too_long',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the id is longer than {limit} characters',
  hint: 'Use a shorter id, or raise limits.idLength.',
} as const

export const METHOD_TOO_LONG = {
  kind: 'method_too_long',
  code: -32601,
  httpFrom2026: 404,
  refusal: 'PROTOCOL_ERROR',
  text: 'the method name is longer than {limit} characters',
  hint: 'Use a method of the protocol, or raise limits.methodLength.',
} as const

export const TOO_MANY_CALLS = {
  kind: 'too_many_calls',
  code: 1060,
  http: 429,
  refusal: 'CONCURRENT_LIMIT_EXCEEDED',
  retryable: true,
  text: 'this caller already has {limit} requests in flight',
  hint: 'Wait for an answer before sending more, or raise limits.inFlight.',
} as const

export const TOO_MANY_QUESTIONS = {
  kind: 'too_many_questions',
  code: 1005,
  http: 503,
  refusal: 'BACKPRESSURE_ACTIVE',
  retryable: true,
  text: 'too many requests are waiting for answers from their clients',
  hint: 'Answer the open questions, or send the request again later; operators can raise limits.allInFlight.',
} as const

export const TOO_MUCH_IN_FLIGHT = {
  kind: 'too_much_in_flight',
  code: 1002,
  http: 429,
  refusal: 'QUEUE_BYTE_CAP_EXCEEDED',
  retryable: true,
  text: 'the requests in flight are too large together',
  hint: 'Wait for answers before sending more, or raise limits.inFlightBytes.',
} as const

export const QUEUE_FULL = {
  kind: 'queue_full',
  code: 1001,
  http: 429,
  refusal: 'QUEUE_CAP_EXCEEDED',
  retryable: true,
  text: 'the queue already holds {limit} requests',
  hint: 'Try again later, or raise limits.queued.',
} as const

export const QUEUE_BYTES = {
  kind: 'queue_bytes',
  code: 1002,
  http: 429,
  refusal: 'QUEUE_BYTE_CAP_EXCEEDED',
  retryable: true,
  text: 'the queue would exceed {limit} bytes',
  hint: 'Try again later, or raise limits.queuedBytes.',
} as const

export const QUEUE_SHARE = {
  kind: 'queue_share',
  code: 1003,
  http: 429,
  refusal: 'QUEUE_TENANT_CAP_EXCEEDED',
  retryable: true,
  text: 'this caller already has {limit} requests in the queue',
  hint: 'Wait for an answer before sending more, or raise limits.queuedPerCaller.',
} as const

export const ID_IN_USE = {
  kind: 'id_in_use',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'a request with id {id} is already in flight',
  hint: 'Give every request its own id.',
} as const

export const SESSION_LIMIT = {
  kind: 'session_limit',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server already has {limit} sessions open',
  hint: 'Try again later, end unused sessions with DELETE, or raise limits.sessions.',
} as const

export const TOO_MANY_CONNECTIONS = {
  kind: 'too_many_connections',
  code: 1089,
  http: 503,
  refusal: 'RESOURCE_EXHAUSTED',
  retryable: true,
  text: 'the server already has {limit} connections open',
  hint: 'Try again later, close unused connections, or raise limits.connections.',
} as const

export const TOO_MANY_INVALID = {
  kind: 'too_many_invalid',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the last {limit} messages were not valid, so the connection is closed',
  hint: 'Send one JSON-RPC 2.0 message at a time, as the transport frames them, or raise limits.invalidMessages.',
} as const

export const TOO_MANY_BYTES = {
  kind: 'too_many_bytes',
  code: 1002,
  http: 429,
  refusal: 'QUEUE_BYTE_CAP_EXCEEDED',
  retryable: true,
  text: 'the server is reading too many bytes at once',
  hint: 'Try again later, send less at once, or raise limits.unparsedBytes.',
} as const

export const TOO_MUCH_UNSENT = {
  kind: 'too_much_unsent',
  code: 1004,
  http: 503,
  refusal: 'BUFFER_OVERFLOW',
  retryable: true,
  text: 'too much output is waiting for slow readers',
  hint: 'Read answers as they arrive and try again later, or raise limits.unsentBytes.',
} as const

export const HEAP_FULL = {
  kind: 'heap_full',
  code: 1005,
  http: 503,
  refusal: 'BACKPRESSURE_ACTIVE',
  retryable: true,
  text: 'the server is short of memory',
  hint: 'Send the request again later; operators can give Node more memory with --max-old-space-size.',
} as const

export const SLOW_SENDER = {
  kind: 'slow_sender',
  code: -32600,
  http: 408,
  refusal: 'TIMEOUT',
  retryable: true,
  text: 'the request did not arrive in time',
  hint: 'Send faster, or raise limits.headersMs or limits.bodyMs.',
} as const

export const ASKED_TOO_OFTEN = {
  kind: 'asked_too_often',
  code: -32603,
  text: 'the server asked more than {limit} questions within a minute',
  hint: 'Let the server ask less often; if it needs so many answers, raise limits.clientQuestions.',
} as const
