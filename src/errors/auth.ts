/* Errors of authentication. */

export const AUTH_MISSING = {
  kind: 'auth_missing',
  code: 1015,
  http: 401,
  refusal: 'AUTH_MISSING',
  text: '{problem}; send Authorization: Bearer, with an access token',
  hint: 'Authenticate as the WWW-Authenticate header says, and send the token in the Authorization header.',
} as const

export const AUTH_MALFORMED = {
  kind: 'auth_malformed',
  code: -32600,
  http: 400,
  refusal: 'INVALID_HEADER',
  text: 'the credentials are malformed: {reason}',
  hint: 'Send one Authorization header with one token, and no token in the URL.',
} as const

export const AUTH_REJECTED = {
  kind: 'auth_rejected',
  code: 1013,
  http: 401,
  refusal: 'AUTH_INVALID_CREDENTIALS',
  text: 'the token is not accepted: {reason}',
  hint: 'Get a new token as the WWW-Authenticate header says.',
} as const

export const AUTH_EXPIRED = {
  kind: 'auth_expired',
  code: 1012,
  http: 401,
  refusal: 'AUTH_EXPIRED',
  text: 'the token is not accepted: {reason}',
  hint: 'Get a new token, for example with a refresh token.',
} as const

export const AUTH_PROOF = {
  kind: 'auth_proof',
  code: 1011,
  http: 401,
  refusal: 'AUTH_FAILED',
  text: 'the proof of possession is not accepted: {reason}',
  hint: 'Send a new DPoP proof for each request, with the nonce of the DPoP-Nonce header if there is one.',
} as const

export const AUTH_UNAVAILABLE = {
  kind: 'auth_unavailable',
  code: -32603,
  http: 503,
  refusal: 'DEPENDENCY_UNAVAILABLE',
  retryable: true,
  text: 'the token cannot be verified now',
  hint: 'Try again later; the log of the server says why.',
} as const
