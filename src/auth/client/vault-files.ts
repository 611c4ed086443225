import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { badOption } from '../../base/options.ts'
import { McpError, mcpError } from '../../errors/error.ts'
import { VAULT_FAILED } from '../../errors/vault.ts'
import { configFolder } from './config-folder.ts'
import type { FileVaultOptions } from './file-vault.ts'
import { locate, readPrivate, setAside, writePrivate } from './private-file.ts'
import { fromText, toText, type Entries } from './vault-contents.ts'
import { LOCK_TIMES, withLock } from './vault-lock.ts'
import type { StoredCredentials, Vault } from './vault.ts'

/** Encrypts what a file contains. */
export interface Cipher {
  encrypt(text: string): string
  /** Undefined if the text was encrypted with another key, or changed. */
  decrypt(text: string): string | undefined
}

/** The file for credentials, if the user does not name one. */
export function pathOf(where: string, path: string | undefined, name: string): string {
  if (path !== undefined) return resolve(path)
  const folder = configFolder(process.platform, process.env, homedir())
  if (folder !== undefined) return join(folder, name)
  throw badOption(where, 'there is no home folder to keep credentials in; pass path, the file to use')
}

/** Opens a vault that keeps its entries in a file. */
export function openFileVault(options: FileVaultOptions): Vault {
  const path = pathOf('fileVault', options.path, 'credentials.json')
  const file = new VaultFile(path, options.warn)
  return {
    name: 'fileVault',
    path,
    read: (key) => file.read(key),
    update: (key, change, signal) => file.update(key, change, signal),
    keys: () => file.keys(),
  }
}

/** Changes the entries of a file; false if there is nothing to write. */
type Change = (entries: Entries) => boolean

/** Changes that are written together. */
interface Writing {
  readonly path: string
  readonly changes: Change[]
  readonly done: Promise<Entries>
}

/** Entries in a file that several processes share. */
export class VaultFile {
  readonly #path: string
  readonly #warn: (text: string) => void
  readonly #cipher: Cipher | undefined
  #isReported = false
  /** The entries for all who ask before the file is read. */
  #next: Promise<Entries> | undefined
  /** The end of the reading that is under way. */
  #reading: Promise<unknown> = Promise.resolve()
  /** The changes that wait for the lock of the file. */
  #writing: Writing | undefined

  constructor(path: string, warn: ((text: string) => void) | undefined, cipher?: Cipher) {
    this.#path = path
    this.#warn = warn ?? ((text) => process.emitWarning(text))
    this.#cipher = cipher
  }

  async read(key: string): Promise<StoredCredentials | undefined> {
    return (await this.#shared()).get(key)
  }

  async keys(): Promise<readonly string[]> {
    return [...(await this.#shared()).keys()]
  }

  /**
   * Changes an entry. Only its own lock is held while `change` runs, which may wait for an issuer, and the lock of the
   * file only while the result is written.
   */
  async update(
    key: string,
    change: (current: StoredCredentials | undefined) => Promise<StoredCredentials | undefined>,
    signal?: AbortSignal,
  ): Promise<StoredCredentials | undefined> {
    const path = await this.#guarded(() => this.#locate())
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32)
    // What the caller throws is not an error of the file, so it leaves the lock as a value.
    const run = async (): Promise<PromiseSettledResult<StoredCredentials | undefined>> => {
      const current = (await this.#shared()).get(key)
      const [result] = await Promise.allSettled([(async () => change(current))()])
      if (result.status === 'fulfilled' && result.value !== current)
        await this.#write(path, (entries) => put(entries, key, result.value))
      return result
    }
    const outcome = await this.#guarded(() =>
      withLock(`${path}.locks`, name, run, { ...LOCK_TIMES, signal }),
    ).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw error
    })
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }

  /** Reads the file. Callers in the same tick, or during another reading, share one that begins after all of them have asked. */
  #shared(): Promise<Entries> {
    return (this.#next ??= this.#reading.then(() => {
      this.#next = undefined
      const entries = this.#entries()
      this.#reading = entries.catch(() => undefined)
      return entries
    }))
  }

  /** What is stored. A damaged file is moved out of the way first. */
  #entries(): Promise<Entries> {
    return this.#guarded(async () => {
      const path = await locate(this.#path, false)
      const entries = path === undefined ? new Map() : await this.#parse(path)
      return entries ?? (await this.#write(path as string, () => false))
    })
  }

  /** Changes what is stored while nobody else does, and writes it if a change says so. Those that come before the lock is had share a writing. */
  #write(path: string, change: Change): Promise<Entries> {
    const waiting = this.#writing
    if (waiting?.path === path) {
      waiting.changes.push(change)
      return waiting.done
    }
    const changes = [change]
    const begin = (): void => {
      if (this.#writing?.changes === changes) this.#writing = undefined
    }
    const done = withLock(`${path}.locks`, 'write', () => {
      begin()
      return this.#change(path, changes)
    }).finally(begin)
    this.#writing = { path, changes, done }
    return done
  }

  async #change(path: string, changes: readonly Change[]): Promise<Entries> {
    let entries = await this.#parse(path)
    if (entries === undefined) {
      const aside = await setAside(path)
      this.#warn(`${this.#path} is damaged; it is now ${aside}, and users have to log in again`)
      entries = new Map()
    }
    let isChanged = false
    for (const change of changes) isChanged = change(entries) || isChanged
    if (isChanged) {
      const text = toText(entries)
      await writePrivate(path, this.#cipher?.encrypt(text) ?? text)
    }
    return entries
  }

  /** The entries in the file; undefined if it is damaged. */
  async #parse(path: string): Promise<Entries | undefined> {
    const text = await readPrivate(path)
    if (text === undefined) return new Map()
    const plain = this.#cipher === undefined ? text : this.#cipher.decrypt(text)
    const contents = plain === undefined ? 'damaged' : fromText(plain)
    if (contents === 'later')
      throw mcpError(VAULT_FAILED, {
        path: this.#path,
        reason: 'a later version of pierhead wrote this file; update this program, or use another file',
      })
    if (contents === 'damaged') return undefined
    this.#report(contents.damaged)
    return contents.entries
  }

  /** Warns of damaged entries once: they stay in the file until it is written again. */
  #report(damaged: number): void {
    if (damaged === 0 || this.#isReported) return
    this.#isReported = true
    const entries = damaged === 1 ? '1 damaged entry' : `${damaged} damaged entries`
    this.#warn(`${this.#path} has ${entries}; users have to log in again at those servers`)
  }

  async #locate(): Promise<string> {
    return (await locate(this.#path, true)) as string
  }

  #guarded<Result>(action: () => Promise<Result>): Promise<Result> {
    return explained(this.#path, action)
  }
}

/** Does something with a file, and explains errors of the file system. */
export async function explained<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof McpError) throw error
    const { code = 'unknown error', syscall = 'access' } = error as NodeJS.ErrnoException
    throw mcpError(VAULT_FAILED, { path, reason: `${code} (${syscall})` }, { cause: error })
  }
}

/** Changes one entry; false if it is not there and need not be removed. */
function put(entries: Entries, key: string, value: StoredCredentials | undefined): boolean {
  if (value === undefined) return entries.delete(key)
  entries.set(key, value)
  return true
}
