/* Errors of vaults, which keep the credentials of clients. */

export const VAULT_UNSAFE = {
  kind: 'vault_unsafe',
  where: 'local',
  code: -32000,
  text: 'credentials are not safe in {path}: {reason}',
  hint: 'Give the file and its folder to the user who runs the program, with chmod 600 for the file and chmod 700 for the folder, or pass fileVault another path.',
} as const

export const VAULT_FAILED = {
  kind: 'vault_failed',
  where: 'local',
  code: -32000,
  text: 'cannot keep credentials in {path}: {reason}',
  hint: 'Pass fileVault a path that the program can write to, or use memoryVault() to keep credentials only until the process ends.',
} as const

export const VAULT_LOCKED = {
  kind: 'vault_locked',
  where: 'local',
  code: -32000,
  retryable: true,
  text: 'another process (id {pid}) is still changing these credentials, and holds the lock {folder}',
  hint: 'Let that process go on if it is stopped, or end it; the lock is then released by itself.',
} as const

export const KEYRING_UNAVAILABLE = {
  kind: 'keyring_unavailable',
  where: 'local',
  code: -32000,
  text: 'cannot use the keyring of the operating system: {reason}',
  hint: 'Run npm install @napi-rs/keyring, and use it in a desktop session; elsewhere pass vault: fileVault(), or keyringVault({ fallback: fileVault() }) to use a file only where there is no keyring.',
} as const
