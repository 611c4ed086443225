import { openFileVault } from '#vaults'
import { callable, type Kind, type KindsOf } from '../../base/kinds.ts'
import { checkOptions } from '../../base/options.ts'
import type { Vault } from './vault.ts'

/** The options of `fileVault`. */
export interface FileVaultOptions {
  /** The file. Default: `pierhead/credentials.json` in the folder where the platform keeps settings of the user, such as `~/.config`. */
  readonly path?: string | undefined
  /** Called when a damaged file was set aside. Default: a warning of the process. */
  readonly warn?: ((text: string) => void) | undefined
}

/** A path that is not empty. */
export const PATH: Kind<string> = {
  must: 'the path of a file',
  is: (value) => typeof value === 'string' && value !== '',
}

const FILE_VAULT_OPTIONS: KindsOf<FileVaultOptions> = { path: PATH, warn: callable() }

/**
 * Keeps credentials in a file that only its owner can read (mode 0600). Any number of processes may share it: only one at a time changes the
 * credentials of a server, and being killed meanwhile neither damages the file nor blocks the others.
 *
 * @example
 * await connect('https://mcp.example/mcp', { auth: browser({ vault: fileVault() }) })
 */
export function fileVault(options: FileVaultOptions = {}): Vault {
  checkOptions('fileVault', options, FILE_VAULT_OPTIONS)
  return openFileVault(options)
}
