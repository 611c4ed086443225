import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { mcpError, type McpError } from '../../errors/error.ts'
import { VAULT_UNSAFE } from '../../errors/vault.ts'
import { fileDanger, folderDanger, READ_OR_CHANGE, type Danger } from '../../keys/danger.ts'
import { findUnsafe } from '../../keys/path-danger.ts'

/* A file that only its owner can read or replace. On Windows, Node does not know the permissions of others; there the folder of the user protects it. */

/**
 * Where a file is, with the links to its folder resolved. The file itself must not be a link: whoever put it there would choose the file that is read
 * and replaced. Undefined if its folder does not exist, unless the folder is to be created.
 */
export async function locate(path: string, isCreating: boolean): Promise<string | undefined> {
  if (isCreating) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const folder = await orNothing(realpath(dirname(path)))
  if (folder === undefined) return undefined
  check(folder, folderDanger(folder, await stat(folder)))
  const place = findUnsafe(dirname(path))
  if (place !== undefined) check(place.path, place.danger)
  const found = join(folder, basename(path))
  if ((await orNothing(lstat(found)))?.isSymbolicLink() === true)
    throw unsafe(path, `it is a symbolic link; name the file that it leads to`)
  return found
}

/** Throws if a folder is a link, or others can change it. It need not exist. */
export async function checkOwnFolder(folder: string): Promise<void> {
  const facts = await orNothing(lstat(folder))
  if (facts?.isSymbolicLink() === true) throw unsafe(folder, 'it is a symbolic link; remove it')
  if (facts?.isDirectory() === true) check(folder, folderDanger(folder, facts))
}

/** Reads a file; undefined if it does not exist. It throws if others can read or change it. */
export async function readPrivate(path: string): Promise<string | undefined> {
  // With NONBLOCK, a pipe does not block. The opened file is checked, so that it cannot be exchanged in between.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
  const file = await orNothing(open(path, flags))
  if (file === undefined) return undefined
  try {
    const facts = await file.stat()
    check(path, fileDanger(path, facts, READ_OR_CHANGE))
    // The other name would keep old tokens, or be in a folder that others can read.
    if (facts.nlink > 1)
      throw unsafe(path, 'the file has another name too (a hard link); copy it, and remove both names')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Replaces a file at once: readers see the old or the new text, also after a power failure. The caller has the lock. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await removeUnfinished(path)
  const fresh = `${path}.${randomUUID()}.new`
  try {
    await withFile(await open(fresh, 'wx', 0o600), async (file) => {
      await file.writeFile(text)
      await file.sync()
    })
    await replace(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  if (process.platform !== 'win32') await withFile(await open(dirname(path)), (folder) => folder.sync())
}

/** Renames a file to a name that says that it is damaged. Returns the new path. */
export async function setAside(path: string): Promise<string> {
  const time = new Date().toISOString().replaceAll(':', '-')
  const aside = `${path}.damaged-${time}-${randomUUID().slice(0, 8)}`
  await rename(path, aside)
  return aside
}

/** Removes the files of writers that were killed. There is only one writer at a time. */
async function removeUnfinished(path: string): Promise<void> {
  const prefix = `${basename(path)}.`
  for (const name of await readdir(dirname(path)))
    if (name.startsWith(prefix) && /^[0-9a-f-]{36}\.new$/.test(name.slice(prefix.length)))
      await rm(join(dirname(path), name), { force: true })
}

/** Renames a file to one that exists. On Windows that fails while another program, such as a virus scanner, reads either. */
async function replace(fresh: string, path: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(fresh, path)
    } catch (error) {
      if (process.platform !== 'win32' || attempt > 20) throw error
      await new Promise((resolve) => void setTimeout(resolve, 10 * attempt))
    }
  }
}

function check(path: string, danger: Danger): void {
  if (danger !== undefined) throw unsafe(path, danger)
}

async function withFile(file: FileHandle, use: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(file)
  } finally {
    await file.close()
  }
}

/** The result of an action; undefined if the file does not exist. */
async function orNothing<Value>(action: Promise<Value>): Promise<Value | undefined> {
  try {
    return await action
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function unsafe(path: string, reason: string): McpError {
  return mcpError(VAULT_UNSAFE, { path, reason })
}
