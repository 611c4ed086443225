/* A process that uses `keyringVault` with the keyring of its desktop session. It prints one line of JSON. */
import process from 'node:process'
import { fileVault } from '../../src/auth/client/file-vault.ts'
import { keyringVault } from '../../src/auth/client/keyring-vault.ts'
import type { StoredCredentials } from '../../src/auth/client/vault.ts'

const [action, path = '', fallbackPath] = process.argv.slice(2)
const warnings: string[] = []
const vault = keyringVault({
  path,
  warn: (text) => void warnings.push(text),
  ...(fallbackPath !== undefined && { fallback: fileVault({ path: fallbackPath }) }),
})
const TOKENS: StoredCredentials = { tokens: { accessToken: 'secret-token', type: 'bearer' } }

try {
  const stored =
    action === 'write' ? await vault.update('https://mcp.example', async () => TOKENS) : undefined
  const read = stored ?? (await vault.read('https://mcp.example'))
  console.log(JSON.stringify({ token: read?.tokens?.accessToken ?? null, warnings }))
} catch (error) {
  const { kind, message } = error as { readonly kind?: string; readonly message: string }
  console.log(JSON.stringify({ kind, message, warnings }))
}
