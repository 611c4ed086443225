import { either, FLAG, listOf, required, TEXT, type Kind, type KindsOf } from '../base/kinds.ts'
import type { ClientKeys, KeyPair } from '../rpc/client-keys.ts'
import { SCOPE } from '../rpc/scopes.ts'
import type { Gate, GateHost } from './gate.ts'

/** The public key of a client that a server accepts. */
export interface PinnedKey {
  /** The public key, such as `ed25519:…`: `publicKey` of the client's pair. */
  readonly key: string
  /** The name of its owner, which becomes `ctx.auth.sub`. Default: the fingerprint of the key. */
  readonly sub?: string | undefined
  /** The scopes of its owner. Default: none. */
  readonly scopes?: readonly string[] | undefined
}

/** The key pairs that a server on stdio accepts, from `allowKeys` in `pierhead/auth`. */
export interface AllowedKeys {
  /** Creates what the client of one connection must pass first. */
  open(host: GateHost): Gate
}

/** Options of `allowKeys`. */
export interface AllowKeysOptions {
  /** The key pair of the server, for clients that pin it. Default: none, so it proves nothing. */
  readonly own?: KeyPair | undefined
}

const KEY_PAIR: Kind<KeyPair> = {
  must: "a key pair: createKeys('key.pem') from pierhead/auth",
  is: (value) => {
    const { publicKey, sign } = (value ?? {}) as Partial<Record<keyof KeyPair, unknown>>
    return typeof publicKey === 'string' && typeof sign === 'function'
  },
}

export const ALLOW_KEYS_OPTIONS: KindsOf<AllowKeysOptions> = { own: KEY_PAIR }

export const CLIENT_KEYS_OPTIONS: KindsOf<ClientKeys> = {
  own: required(KEY_PAIR),
  server: either(TEXT, listOf(TEXT)),
  optional: FLAG,
}

export const PINNED_KEY_OPTIONS: KindsOf<PinnedKey> = {
  key: required(TEXT),
  sub: { must: 'a non-empty string', is: (value) => typeof value === 'string' && value !== '' },
  scopes: listOf(SCOPE),
}
