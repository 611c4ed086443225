import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { Failure } from './failure.ts'

const MOST_BYTES = 10_000_000
const MOST_LINKS = 40

/** The file that a path leads to, if it is a link. A file that does not exist yet stays as it is. */
export function realFile(path: string): string {
  let file = path
  for (let links = 0; lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true; links++) {
    if (links > MOST_LINKS)
      throw new Failure(`${path} is a link that leads to itself`, { hint: 'Remove it.' })
    file = resolve(dirname(file), readlinkSync(file))
  }
  if (existsSync(file)) return realpathSync(file)
  if (file !== path)
    throw new Failure(`${path} is a link to ${file}, which does not exist`, {
      hint: 'Remove the link, or create the file if you trust the link.',
    })
  return file
}

/**
 * The same for a file of a project, whose author is not the user. Neither the file nor a folder on the way to it may lead out of the
 * project, since the author would choose what is written.
 */
export function realProjectFile(path: string, project: string): string {
  const file = realFile(path)
  const real = join(realFolder(dirname(file)), basename(file))
  const way = relative(realpathSync(project), real)
  if (way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..') return real
  throw new Failure(`${path} leads out of the project, to ${real}`, {
    hint: 'Remove the link. If you want to change that file, change it there.',
  })
}

/** Where a folder really is, or will be if it does not exist yet. */
function realFolder(folder: string): string {
  if (existsSync(folder)) return realpathSync(folder)
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined)
    throw new Failure(`${folder} is a link that leads nowhere`, { hint: 'Remove it.' })
  const parent = dirname(folder)
  return parent === folder ? folder : join(realFolder(parent), basename(folder))
}

/** The text of a configuration; empty if there is none. */
export function readText(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return ''
  if (!stat.isFile())
    throw new Failure(`${file} is not a file`, { hint: 'Remove it, or use another client.' })
  if (stat.size > MOST_BYTES)
    throw new Failure(`${file} is larger than ${MOST_BYTES} bytes`, { hint: 'Correct the file.' })
  return readFileSync(file, 'utf8')
}

/** Replaces the contents of a file at once: nobody sees half of it. The mode and the owner stay. */
export function writeText(file: string, text: string, newMode: number): void {
  mkdirSync(dirname(file), { recursive: true })
  const found = lstatSync(file, { throwIfNoEntry: false })
  // Links are replaced, and not followed; whoever wants to follow one passes the real file.
  const old = found?.isFile() === true ? found : undefined
  const fresh = `${file}.${randomUUID()}`
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: old === undefined ? newMode : 0o600 })
    if (old !== undefined) keepRights(fresh, old)
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}

function keepRights(
  fresh: string,
  { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number },
): void {
  const made = statSync(fresh)
  if (made.uid !== uid || made.gid !== gid)
    try {
      chownSync(fresh, uid, gid)
    } catch {
      // Only administrators may give files away.
    }
  chmodSync(fresh, mode & 0o7777)
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
  writeText(backup, before, mode & 0o777)
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
  const mark = `${file}.before-pierhead-${digestOf(readText(file))}`
  const current = found.find((backup) => backup === mark || backup === `${mark}${ABSENT}`)
  if (current !== undefined) return { path: current, isCurrent: true }
  const [newest] = found.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  return newest === undefined ? undefined : { path: newest, isCurrent: false }
}

/** Goes back to a backup, and removes it. */
export function restore(file: string, backup: string): void {
  const before = readText(backup)
  if (backup.endsWith(ABSENT)) rmSync(file, { force: true })
  else writeText(file, before, statSync(backup).mode & 0o777)
  rmSync(backup)
}
