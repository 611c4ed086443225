import type { Kind } from '../../base/kinds.ts'
import type { Vault } from './vault.ts'

/** The kind of an option that takes a vault. */
export const VAULT: Kind<Vault> = {
  must: 'a vault, such as fileVault()',
  is: (value) =>
    ['read', 'update', 'keys'].every(
      (name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function',
    ),
}
