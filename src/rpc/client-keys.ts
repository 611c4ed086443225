/** An Ed25519 key pair, from `createKeys` in `pierhead/auth`. */
export interface KeyPair {
  /** The public key, such as `ed25519:…`, which the other side pins. */
  readonly publicKey: string
  /** The SHA-256 fingerprint of the public key, such as `sha256:…`. */
  readonly fingerprint: string
  /** Signs bytes with the private key. */
  sign(bytes: Uint8Array): Uint8Array
}

/**
 * The keys of a client for server programs.
 *
 * @example
 * await connect({ command: 'orders-server' }, { keys: { own: createKeys('orders-key.pem') } })
 */
export interface ClientKeys {
  /** The key pair of the client, which it proves to have. */
  readonly own: KeyPair
  /** The public keys of the only servers that are accepted. Default: any. */
  readonly server?: string | readonly string[] | undefined
  /** Whether to connect to servers that do not ask for keys, too. Default: `false`. */
  readonly optional?: boolean | undefined
}
