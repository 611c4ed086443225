import { badOption } from '../../base/options.ts'

/** Replaces `fileVault` on runtimes without files. */
export function openFileVault(): never {
  throw badOption('fileVault', 'this runtime has no files; use memoryVault(), or implement Vault')
}

/** Replaces `keyringVault` on runtimes without a keyring. */
export function openKeyringVault(): never {
  throw badOption('keyringVault', 'this runtime has no keyring; use memoryVault(), or implement Vault')
}
