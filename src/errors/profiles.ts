/* Errors of profiles other than the official one. */

export const UNSUPPORTED_TYPE = {
  kind: 'unsupported_type',
  code: -32600,
  refusal: 'INVALID_CONTENT_TYPE',
  text: 'the type "{type}" of {uri} is not a known MIME type',
  hint: 'Give the resource a known MIME type, or turn strictMime off.',
} as const

export const BAD_PROGRESS_TOKEN = {
  kind: 'bad_progress_token',
  code: -32602,
  refusal: 'INVALID_PARAMS',
  text: 'the progress token is neither a string nor an integer',
  hint: 'Send a string or an integer as the progress token.',
} as const
