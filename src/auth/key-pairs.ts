import { allowKeys as allow, createKeys as create, pinKey as pin } from '#keys'
import type { AllowedKeys, AllowKeysOptions, PinnedKey } from '../keys/options.ts'
import type { KeyPair } from '../rpc/client-keys.ts'

/**
 * Reads the Ed25519 key pair in a file. If the file does not exist, it creates a pair and stores it there, so that only the owner of the
 * file can read it. The file holds the private key in PEM (PKCS #8), as `openssl genpkey -algorithm ed25519` writes it.
 *
 * @example
 * const own = createKeys('orders-key.pem')
 * const client = await connect({ command: 'orders-server' }, { keys: { own } })
 */
export function createKeys(file: string): KeyPair {
  return create(file)
}

/**
 * Adds the public key of a client to a file of keys that a server allows, or replaces its entry. A server on stdio reads the file with
 * `allowKeys`.
 *
 * @example
 * pinKey('allowed-keys.json', { key: 'ed25519:…', sub: 'anna', scopes: ['orders:read'] })
 */
export function pinKey(file: string, pinned: PinnedKey): void {
  pin(file, pinned)
}

/**
 * Lets only clients with certain key pairs use a server on stdio: those in a list, or in a file that `pinKey` wrote. A client proves its
 * key before the first message, and becomes `ctx.auth`: `{ sub, scopes, fingerprint }`.
 *
 * @example
 * await app.listen({ stdio: { keys: allowKeys('allowed-keys.json') } })
 */
export function allowKeys(clients: string | readonly PinnedKey[], options?: AllowKeysOptions): AllowedKeys {
  return allow(clients, options)
}
