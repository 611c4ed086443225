import { openKeyringVault } from '#vaults'
import { callable, type KindsOf } from '../../base/kinds.ts'
import { checkOptions } from '../../base/options.ts'
import { PATH } from './file-vault.ts'
import { VAULT } from './vault-kind.ts'
import type { Vault } from './vault.ts'

/** The options of `keyringVault`. */
export interface KeyringVaultOptions {
  /**
   * The vault to use where there is no keyring, such as `fileVault()`. A keyring that the user does not unlock is an error all the same.
   * Default: none; then it is always an error.
   */
  readonly fallback?: Vault | undefined
  /** The encrypted file. Default: `pierhead/keyring.json` in the folder where the platform keeps settings of the user. */
  readonly path?: string | undefined
  /** Called when a file that cannot be decrypted was set aside, and when the fallback is used. Default: a warning of the process. */
  readonly warn?: ((text: string) => void) | undefined
}

const KEYRING_VAULT_OPTIONS: KindsOf<KeyringVaultOptions> = {
  fallback: VAULT,
  path: PATH,
  warn: callable(),
}

/**
 * Keeps credentials in a file, encrypted with a key that the keyring of the operating system keeps: Keychain, Credential Manager or Secret
 * Service. It needs the package `@napi-rs/keyring` and a desktop session.
 *
 * @example
 * const vault = keyringVault({ fallback: fileVault() })
 * await connect('https://mcp.example/mcp', { auth: browser({ vault }) })
 */
export function keyringVault(options: KeyringVaultOptions = {}): Vault {
  checkOptions('keyringVault', options, KEYRING_VAULT_OPTIONS)
  return openKeyringVault(options)
}
