/* Errors of key pairs on stdio. */

export const KEYS_REQUIRED = {
  kind: 'keys_required',
  code: 1015,
  refusal: 'AUTH_MISSING',
  text: 'this server accepts only clients that prove their key pair first (dev.pierhead/keys); with pierhead/client, give connect the option keys',
  hint: 'Create a pair with createKeys, pin its public key on the server with pinKey, and connect with keys: { own }.',
} as const

export const KEYS_REJECTED = {
  kind: 'keys_rejected',
  code: 1013,
  refusal: 'AUTH_INVALID_CREDENTIALS',
  text: 'the key of the client is not accepted: {reason}',
  hint: 'Pin the public key of the client on the server, with pinKey.',
} as const

export const KEYS_FAILED = {
  kind: 'keys_failed',
  where: 'local',
  code: -32000,
  text: 'cannot connect to {target} with keys: {reason}',
  hint: 'Check the keys of both sides: the server pins that of the client, and perhaps the client that of the server.',
} as const
