import { oneOf, required, type KindsOf } from '../../base/kinds.ts'
import { badOption } from '../../base/options.ts'
import type { Algorithm } from '../jwt.ts'
import { NAME } from '../token-options.ts'
import { ALGORITHM, PRIVATE_KEY, readPrivateKey, type PrivateKey } from './private-key.ts'
import type { TokenClient } from './token-endpoint.ts'

/** A client that an issuer knows, and what it proves its identity with. */
export interface ClientIdentity {
  /** The id under which the issuer knows the client. */
  readonly clientId: string
  /** The secret of the client at the issuer. Default: none; the client has a `key`. */
  readonly clientSecret?: string | undefined
  /**
   * The private key whose public part the issuer knows: PEM text (PKCS #8), a JWK or a `CryptoKey`. Unlike a secret, it never leaves the
   * client. Default: none; the client has a `clientSecret`.
   */
  readonly key?: PrivateKey | undefined
  /** The algorithm of the key. Default: that of the key; for PEM text with an RSA key, `RS256`. */
  readonly algorithm?: Algorithm | undefined
  /** The id of the key, which some issuers need. Default: `kid` of a JWK. */
  readonly keyId?: string | undefined
  /** How the secret is sent, if the issuer accepts only one way for this client. Default: as the metadata of the issuer says. */
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post' | undefined
}

export const CLIENT_IDENTITY: KindsOf<ClientIdentity> = {
  clientId: required(NAME),
  clientSecret: NAME,
  key: PRIVATE_KEY,
  algorithm: ALGORITHM,
  keyId: NAME,
  authMethod: oneOf('client_secret_basic', 'client_secret_post'),
}

/** Other libraries' names of the options. */
export const IDENTITY_ALIASES: ReadonlyMap<string, string> = new Map([
  ['secret', 'clientSecret'],
  ['client_secret', 'clientSecret'],
  ['client_id', 'clientId'],
  ['privateKey', 'key'],
])

/** Checks that the members of an identity fit together; returns a function that reads its key once. */
export function readIdentity(where: string, identity: ClientIdentity): () => Promise<TokenClient> {
  const { clientId, clientSecret: secret, key, algorithm, keyId, authMethod } = identity
  if (secret !== undefined && key !== undefined)
    throw badOption(where, 'there are both a clientSecret and a key; give one of them')
  const unused = key === undefined ? { algorithm, keyId } : { authMethod }
  const name = Object.entries(unused).find(([, value]) => value !== undefined)?.[0]
  if (name !== undefined)
    throw badOption(where, `${name} is only for clients with a ${key === undefined ? 'key' : 'clientSecret'}`)
  if (key === undefined) return () => Promise.resolve({ clientId, secret, authMethod })
  let client: Promise<TokenClient> | undefined
  return () =>
    (client ??= readPrivateKey(where, key, algorithm).then((read) => ({
      clientId,
      key: { ...read, kid: keyId ?? read.kid },
    })))
}
