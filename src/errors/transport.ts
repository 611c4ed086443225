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
