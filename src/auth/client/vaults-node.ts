export { openFileVault } from './vault-files.ts'
export { openKeyringVault } from './vault-keyring.ts'
