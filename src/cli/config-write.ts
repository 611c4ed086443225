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

/** Identifies what a file was changed to, so that its backup can be found. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

const BACKUP = /\.before-pierhead-[0-9a-f]{12}(?:-absent)?$/
/** The end of the name of a backup that stands for no file. */
const ABSENT = '-absent'

/** Keeps the text that a file had before it was changed, or that there was no file. */
export function backUp(file: string, before: string, after: string): string {
  const old = statSync(file, { throwIfNoEntry: false })
  const backup = `${file}.before-pierhead-${digestOf(after)}${old === undefined ? ABSENT : ''}`
  const mode = old?.mode ?? 0o600
  replaceFile(backup, before, mode & 0o777)
  return backup
}

/** The backup to go back to, and whether the file is still what was written then. */
export function findBackup(file: string): { readonly path: string; readonly isCurrent: boolean } | undefined {
  const folder = dirname(file)
  if (!existsSync(folder)) return undefined
  const prefix = `${basename(file)}.before-pierhead-`
  const found = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && BACKUP.test(name))
    .map((name) => join(folder, name))
    // A link may be planted by the author of a project, to copy a secret into it.
    .filter((backup) => lstatSync(backup).isFile())
  const mark = `${file}.before-pierhead-${digestOf(configText(file))}`
  const current = found.find((backup) => backup === mark || backup === `${mark}${ABSENT}`)
  if (current !== undefined) return { path: current, isCurrent: true }
  const [newest] = found.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  return newest === undefined ? undefined : { path: newest, isCurrent: false }
}

/** Goes back to a backup, and removes it. */
export function restore(file: string, backup: string): void {
  const before = configText(backup)
  if (backup.endsWith(ABSENT)) rmSync(file, { force: true })
  else replaceFile(file, before, statSync(backup).mode & 0o777)
  rmSync(backup)
}
