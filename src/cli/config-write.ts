import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Failure } from './failure.ts'
import { readText } from './read-text.ts'
import { replaceFile } from './write-file.ts'

/** The text of a configuration; empty if there is none. */
export function configText(file: string): string {
  try {
    return readText(file) ?? ''
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${(error as Error).message}`, {
      hint: 'Correct the file, or use another client.',
      cause: error,
    })
  }
}

/** Identifies a text without showing it. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Identifies an entry, so that it is found in a file that was changed since. It may have secrets. */
export function entryDigest(name: string, entry: unknown): string {
  return digestOf(JSON.stringify([name, entry]))
}

/** The name of a backup has the digest of what the file was changed to, and of the entry that it got. */
const BACKUP = /\.before-pierhead-([0-9a-f]{12})-([0-9a-f]{12})(?:-absent)?$/
/** The end of the name of a backup that stands for no file. */
const ABSENT = '-absent'

/** What `install` writes into a file. */
export interface Change {
  readonly before: string
  readonly after: string
  /** The digest of the entry. */
  readonly entry: string
}

/** Keeps the text that a file had before it was changed, or that there was no file. */
export function backUp(file: string, { before, after, entry }: Change): string {
  const old = statSync(file, { throwIfNoEntry: false })
  const backup = `${file}.before-pierhead-${digestOf(after)}-${entry}${old === undefined ? ABSENT : ''}`
  const mode = old?.mode ?? 0o600
  replaceFile(backup, before, mode & 0o777)
  return backup
}

/** The file as it was before a change. */
export interface Backup {
  readonly path: string
  /** Whether the file is still what was written then. */
  readonly isCurrent: boolean
  /** The digest of the entry that was written then. */
  readonly entry: string
}

/** The backup to go back to. */
export function findBackup(file: string): Backup | undefined {
  const folder = dirname(file)
  if (!existsSync(folder)) return undefined
  const prefix = `${basename(file)}.before-pierhead-`
  const now = digestOf(configText(file))
  const found = readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name): readonly Backup[] => {
      const [, after, entry] = BACKUP.exec(name) ?? []
      const path = join(folder, name)
      // A link may be planted by the author of a project, to copy a secret into it.
      if (entry === undefined || !lstatSync(path).isFile()) return []
      return [{ path, isCurrent: after === now, entry }]
    })
    .toSorted((a, b) => statSync(b.path).mtimeMs - statSync(a.path).mtimeMs)
  return found.find(({ isCurrent }) => isCurrent) ?? found[0]
}

/** Goes back to a backup, and removes it. */
export function restore(file: string, backup: string): void {
  const before = configText(backup)
  if (backup.endsWith(ABSENT)) rmSync(file, { force: true })
  else replaceFile(file, before, statSync(backup).mode & 0o777)
  rmSync(backup)
}

/** Writes a file that was changed since the backup was made, and removes the backup. */
export function replaceBacked(file: string, text: string, backup: string): void {
  replaceFile(file, text, statSync(file).mode & 0o777)
  rmSync(backup)
}
