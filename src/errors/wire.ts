/* Errors in messages: text that is not a message, or too large to be one. */

export const PARSE_FAILED = {
  kind: 'parse_failed',
  code: -32700,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the message is not valid JSON',
  hint: 'Send one UTF-8 JSON-RPC 2.0 message.',
} as const

export const BAD_MESSAGE = {
  kind: 'bad_message',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'not a JSON-RPC 2.0 message: {reason}',
  hint: 'Send jsonrpc "2.0", a method, and for a request an id that is a string or an integer.',
} as const

export const DUPLICATE_KEY = {
  kind: 'duplicate_key',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the key "{key}" appears twice in one object',
  hint: 'Write each key once.',
} as const

export const TOO_DEEP = {
  kind: 'too_deep',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the message is nested deeper than {limit} levels',
  hint: 'Flatten the message or raise limits.depth.',
} as const

export const TOO_MANY_VALUES = {
  kind: 'too_many_values',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the message has more than {limit} values',
  hint: 'Send less at once, or raise limits.values.',
} as const

export const TOO_MANY_KEYS = {
  kind: 'too_many_keys',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the message has more than {limit} object members{counted}',
  hint: 'Send less at once, shorten long names, or raise limits.keys.',
} as const

export const TOO_MANY_CONTAINERS = {
  kind: 'too_many_containers',
  code: -32600,
  http: 400,
  refusal: 'PROTOCOL_ERROR',
  text: 'the message has more than {limit} objects and lists',
  hint: 'Send less at once, or many values in one list instead of many small lists, or raise limits.containers.',
} as const

export const TOO_LARGE = {
  kind: 'too_large',
  code: -32600,
  http: 413,
  refusal: 'MESSAGE_TOO_LARGE',
  text: 'the message is larger than {limit} bytes',
  tells: ['maxSize', 'limit'],
  hint: 'Send less at once, or raise the message limit of the transport.',
} as const

export const BAD_PARAMS = {
  kind: 'bad_params',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'invalid params for {method}: {reason}',
  hint: 'Send params that match the schema of the method.',
} as const

export const INTERNAL = {
  kind: 'internal',
  code: -32603,
  refusal: 'INTERNAL_ERROR',
  retryable: true,
  text: 'internal error (reference {reference})',
  hint: 'Look up the reference in the log of the server.',
} as const

export const REVISION_UNSUPPORTED = {
  kind: 'revision_unsupported',
  code: -32022,
  http: 400,
  refusal: 'INVALID_PROTOCOL_VERSION',
  text: 'protocol version {version} is not supported',
  hint: 'Use one of data.supported.',
} as const
