import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { lazy } from '../../base/lazy.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { KEYRING_UNAVAILABLE } from '../../errors/vault.ts'
import { isObject } from '../../protocol/jsonrpc.ts'
import type { KeyringVaultOptions } from './keyring-vault.ts'
import { locate } from './private-file.ts'
import { reasonOf } from './reason.ts'
import { explained, pathOf, VaultFile, type Cipher } from './vault-files.ts'
import { withLock } from './vault-lock.ts'
import type { Vault } from './vault.ts'

/*
 * The keyring keeps only a key; the credentials are in a file that is encrypted with it. Keyrings have no locks, and that of Windows
 * takes 2,560 bytes per entry, which is less than many tokens. A file has neither problem, and the keyring is asked only once per
 * process, so that a system that wants the consent of the user asks once too.
 */

/** The part of `@napi-rs/keyring` that is used. */
export interface Keyring {
  readonly AsyncEntry: new (
    service: string,
    account: string,
    options: { readonly linux: { readonly store: 'secret-service' } },
  ) => KeyringEntry
}

export interface KeyringEntry {
  getPassword(): Promise<string | null | undefined>
  setPassword(password: string): Promise<void>
}

const PACKAGE = '@napi-rs/keyring'
const KEY_BYTES = 32

/** Opens a vault whose file is encrypted with a key in the keyring. */
export function openKeyringVault(
  options: KeyringVaultOptions,
  load: () => Promise<unknown> = () => import(PACKAGE),
): Vault {
  const path = pathOf('keyringVault', options.path, 'keyring.json')
  const use = lazy(async (): Promise<Pick<Vault, 'read' | 'update' | 'keys'>> => {
    try {
      const key = await explained(path, () => lockedKey(path, load))
      return new VaultFile(path, options.warn, cipherWith(key))
    } catch (error) {
      const { fallback, warn = (text: string) => process.emitWarning(text) } = options
      if (fallback === undefined || !isAbsent(error)) throw error
      warn(`${(error as Error).message}; so credentials are kept in ${fallback.name}`)
      return fallback
    }
  })
  return {
    name: 'keyringVault',
    path,
    read: async (key) => (await use()).read(key),
    update: async (key, change, signal) => (await use()).update(key, change, signal),
    keys: async () => (await use()).keys(),
  }
}

/**
 * The key of a file, whose folder is checked before anything is locked in it. Two processes must not both create one; the entry of the keyring
 * belongs to the whole account, so all files share the lock of the usual one.
 */
async function lockedKey(path: string, load: () => Promise<unknown>): Promise<Buffer> {
  const own = (await locate(path, true)) as string
  const shared = await locate(pathOf('keyringVault', undefined, 'keyring.json'), true).catch(() => undefined)
  const read = async (): Promise<Buffer> => keyIn(await entryIn(load))
  const ofAccount =
    shared === undefined || shared === own ? read : () => withLock(`${shared}.locks`, 'key', read)
  return withLock(`${own}.locks`, 'key', ofAccount)
}

async function entryIn(load: () => Promise<unknown>): Promise<KeyringEntry> {
  let found: unknown
  try {
    found = await load()
  } catch (error) {
    throw unavailable(`the package ${PACKAGE} cannot be loaded`, error)
  }
  // A CommonJS package, whose exports are also those of `default`.
  const keyring =
    isObject(found) && 'AsyncEntry' in found ? found : isObject(found) ? found['default'] : undefined
  if (!isObject(keyring) || typeof keyring['AsyncEntry'] !== 'function')
    throw unavailable(`this version of ${PACKAGE} is not supported; use version 2`)
  const { AsyncEntry } = keyring as unknown as Keyring
  try {
    // The other store of Linux, that of the kernel, forgets everything when the machine restarts.
    return new AsyncEntry('pierhead', 'vault', { linux: { store: 'secret-service' } })
  } catch (error) {
    throw unavailable(reasonOf(error), error)
  }
}

/** The key in the keyring, which is created if there is none. */
async function keyIn(entry: KeyringEntry): Promise<Buffer> {
  const stored = await attempt(() => entry.getPassword())
  if (typeof stored === 'string') {
    const key = Buffer.from(stored, 'base64url')
    if (key.length !== KEY_BYTES) throw unavailable('its entry "vault" of "pierhead" is not a key; remove it')
    return key
  }
  if (stored !== undefined && stored !== null)
    throw unavailable('its entry "vault" of "pierhead" is not a text; remove it')
  const key = randomBytes(KEY_BYTES)
  await attempt(() => entry.setPassword(key.toString('base64url')))
  return key
}

async function attempt<Value>(action: () => Promise<Value>): Promise<Value> {
  try {
    return await action()
  } catch (error) {
    throw unavailable(reasonOf(error), error)
  }
}

/** Parts of messages that there is no keyring here, and of those that a user did not open the one that there is. */
const ABSENT = /cannot be loaded|no secret service|d-?bus|zbus/i
const CLOSED = /locked|denied|dismissed/i

/** Whether there is no keyring at all. One that stays closed for now must not make secrets end up somewhere less safe. */
function isAbsent(error: unknown): boolean {
  if (!(error instanceof McpError) || error.kind !== KEYRING_UNAVAILABLE.kind) return false
  return ABSENT.test(error.message) && !CLOSED.test(error.message)
}

function unavailable(reason: string, cause?: unknown): McpError {
  return mcpError(KEYRING_UNAVAILABLE, { reason }, { cause })
}

/** AES-256-GCM: the nonce, the tag and the text, in base64url. */
function cipherWith(key: Buffer): Cipher {
  return {
    encrypt(text) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    decrypt(text) {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length === 0) return ''
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
        decipher.setAuthTag(bytes.subarray(12, 28))
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
